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

/** Fields that a definition must have. The type checker asks for them too, but this program runs without it. */
const required = ["title", "transports", "defaultPort", "manuals", "detect", "framer"] as const;

/** A module that is not whole: the message names the file, and the field where one is missing. */
export class IncompleteModule extends Error {}

/**
 * The definition that a module exports under its id. Throws an IncompleteModule where the module has none, or a field
 * is missing.
 */
export async function loadProtocol(root: string, module: ProtocolModule): Promise<AnyProtocol> {
  const file = join("src/protocols", module.path);
  const protocol = await importedFrom(root, file, module.id);
  if (protocol?.id !== module.id)
    throw new IncompleteModule(`${file}: it must export \`${module.id}\`, a protocol with that id`);
  const missing = required.find((field) => protocol[field] === undefined);
  if (missing !== undefined) throw new IncompleteModule(`${file}: the field \`${missing}\` is missing`);
  return protocol;
}

async function importedFrom(root: string, file: string, id: string): Promise<AnyProtocol | undefined> {
  try {
    const loaded: Record<string, AnyProtocol | undefined> = await import(pathToFileURL(join(root, file)).href);
    return loaded[id];
  } catch (error) {
    throw new IncompleteModule(`${file}: it can't be loaded: ${error instanceof Error ? error.message : error}`);
  }
}

/** What is wrong with the modules, a line each. */
export async function problemsOfModules(root: string): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const module of await protocolModules(root))
    await loadProtocol(root, module).catch((error: unknown) => {
      if (!(error instanceof IncompleteModule)) throw error;
      problems.push(error.message);
    });
  return problems;
}
