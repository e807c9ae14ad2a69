import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { said } from "../contract/positions/said.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { folderOf } from "./service.ts";
import { openStore } from "./store.ts";
import { commandLine } from "./waybeam.ts";

/** A stopped data folder with devices that have a number of positions each, in the log. */
export async function filled(
  context: TestContext,
  devices = 3,
  positions = 2000,
): Promise<{ directory: string; ids: string[] }> {
  const directory = folderOf(context);
  const store = await openStore(directory);
  const account = await makeAccount(store);
  const ids: string[] = [];
  for (let index = 0; index < devices; index++) {
    const { key, id } = await makeDevice(store, account.key);
    ids.push(id);
    for (let at = 0; at < positions; at += 100) {
      const records = Array.from({ length: Math.min(100, positions - at) }, (_, each) => said(at + each));
      await store.positions.append([{ device: key, records }]);
    }
  }
  await store.close();
  return { directory, ids };
}

/** A backup of a data folder, made by the command. */
export async function backedUp(context: TestContext, directory: string): Promise<string> {
  const target = join(folderOf(context), "backup");
  const { code, err } = await commandLine(directory).waybeam(["backup", target]);
  assert.equal(code, 0, err);
  return target;
}
