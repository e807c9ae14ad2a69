/**
 * Writes the files that are made from the code: `npm run gen`. `npm run gen -- --check` writes nothing, names every
 * file that is not what the code gives, and exits with 1 if there is one.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { alertTypesDoc } from "./generators/alert-types.ts";
import { configDoc } from "./generators/config-doc.ts";
import { errorsDoc } from "./generators/errors.ts";
import type { Generator } from "./generators/generator.ts";
import { protocolIds } from "./generators/protocol-ids.ts";
import { protocolIndex } from "./generators/protocol-index.ts";
import { problemsOfModules } from "./generators/protocol-modules.ts";
import { protocolsDoc } from "./generators/protocols-doc.ts";
import { readingsDoc } from "./generators/readings-doc.ts";

/** Code that the program itself reads: it must be there before the program is loaded. */
const code: readonly Generator[] = [protocolIndex, protocolIds];

/** The rest, some of which loads the program. */
async function documents(): Promise<readonly Generator[]> {
  const { cliDoc } = await import("./generators/cli-doc.ts");
  const { consoleTypes, openApi } = await import("./generators/openapi.ts");
  return [protocolsDoc, readingsDoc, configDoc, cliDoc, errorsDoc, alertTypesDoc, openApi, consoleTypes];
}

/** Files that are not what their generator gives; written anew unless `check`. */
async function generate(generators: readonly Generator[], root: string, check: boolean): Promise<string[]> {
  const stale: string[] = [];
  for (const { file, render } of generators) {
    const path = join(root, file);
    const expected = await render(root);
    const present = await readFile(path, "utf8").catch(() => undefined);
    if (present === expected) continue;
    stale.push(file);
    if (!check) await writeFile(path, expected);
  }
  return stale;
}

async function main(root: string, check: boolean): Promise<number> {
  const problems = await problemsOfModules(root);
  if (problems.length > 0) {
    console.error(`${problems.join("\n")}\nNothing was written.`);
    return 1;
  }
  const stale = await generate(code, root, check);
  stale.push(...(await generate(await documents(), root, check)));
  for (const file of stale) console.log(check ? `stale: ${file} (run: npm run gen)` : `wrote ${file}`);
  return check && stale.length > 0 ? 1 : 0;
}

process.exitCode = await main(join(import.meta.dirname, ".."), process.argv.includes("--check"));
