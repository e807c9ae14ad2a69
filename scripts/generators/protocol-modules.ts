import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { AnyProtocol } from "../../src/wire/protocol.ts";

/** A module of src/protocols: its id, and its path from there. */
export interface ProtocolModule {
  readonly id: string;
  readonly path: string;
}

/** The modules of src/protocols by id: files `<id>.ts` and folders `<id>/index.ts`; tests and the index are none. */
export async function protocolModules(root: string): Promise<readonly ProtocolModule[]> {
  const folder = join(root, "src/protocols");
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .flatMap((entry): ProtocolModule[] => {
      if (entry.isDirectory())
        return existsSync(join(folder, entry.name, "index.ts"))
          ? [{ id: entry.name, path: `./${entry.name}/index.ts` }]
          : [];
      const id = /^([a-z][a-z0-9]*)\.ts$/i.exec(entry.name)?.[1];
      return id === undefined || id === "index" ? [] : [{ id, path: `./${id}.ts` }];
    })
    .toSorted((left, right) => (left.id < right.id ? -1 : 1));
}

/** The definition that a module exports under its id. */
export async function loadProtocol(root: string, module: ProtocolModule): Promise<AnyProtocol> {
  const loaded: Record<string, AnyProtocol | undefined> = await import(
    pathToFileURL(join(root, "src/protocols", module.path)).href
  );
  const protocol = loaded[module.id];
  if (protocol?.id !== module.id)
    throw new Error(`src/protocols/${module.path} must export \`${module.id}\`, a protocol with that id`);
  return protocol;
}
