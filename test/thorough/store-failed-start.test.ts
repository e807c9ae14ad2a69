import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { DataFolderUnusable } from "../../src/store/sqlite/folder.ts";
import { readAll, said } from "../contract/positions/said.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { folderOf } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore, secretsOf } from "../support/store.ts";

test("a start that fails ends what it began, and the folder is free again", async (context) => {
  const directory = folderOf(context);
  const store = await openStore(directory);
  for (let removed = 0; removed < 3; removed++) {
    const { key } = await makeDevice(store, (await makeAccount(store)).key);
    await store.positions.append([{ device: key, records: [said(1)] }]);
  }
  await store.close();
  // A folder in the place of the file that is opened last.
  renameSync(join(directory, "positions.db"), join(directory, "elsewhere"));
  mkdirSync(join(directory, "positions.db"));
  const warned: string[] = [];
  const log = { ...silentLog, warn: (_fields: object, text?: string) => void warned.push(text ?? "") };
  await assert.rejects(openStore(directory, log), DataFolderUnusable);
  await pause(200);
  assert.deepEqual(warned, []);
  rmSync(join(directory, "positions.db"), { recursive: true });
  renameSync(join(directory, "elsewhere"), join(directory, "positions.db"));
  await (await openStore(directory)).close();
});

/** What a folder holds, without the lock and SQLite's index of the log, which every reader makes anew. */
function contentOf(directory: string): Readonly<Record<string, string>> {
  const names = readdirSync(directory).filter((name) => !/^lock\.|-shm$/.test(name));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name), "latin1")]));
}

/** Changes a database as another program does, with its log kept. */
function changed(file: string, statement: string): void {
  const holder = new DatabaseSync(file, { readOnly: true });
  holder.prepare("pragma user_version").get();
  const database = new DatabaseSync(file);
  database.exec(statement);
  database.close();
  holder.close();
}

const refusals: Readonly<Record<string, { readonly spoil: (copy: string) => void; readonly says: RegExp }>> = {
  "the database is empty": {
    spoil: (copy) => truncateSync(join(copy, "waybeam.db"), 0),
    says: /waybeam\.db is missing/,
  },
  "the database is missing": { spoil: (copy) => rmSync(join(copy, "waybeam.db")), says: /waybeam\.db is missing/ },
  "positions are missing": { spoil: (copy) => rmSync(join(copy, "positions.db")), says: /positions\.db is missing/ },
  "the key is missing": { spoil: (copy) => rmSync(join(copy, "secret.key")), says: /secret\.key is missing/ },
  "the key is another's": {
    spoil: (copy) => writeFileSync(join(copy, "secret.key"), `${Buffer.alloc(32, 7).toString("base64")}\n`),
    says: /is not the one/,
  },
  "the key is no key": { spoil: (copy) => writeFileSync(join(copy, "secret.key"), "open sesame\n"), says: /can't use/ },
  "the data are a newer program's": {
    spoil: (copy) => changed(join(copy, "waybeam.db"), "insert into migration values (999, 'later')"),
    says: /a newer program made it/,
  },
  "the data are of before the first release": {
    spoil: (copy) => changed(join(copy, "waybeam.db"), "update migration set name = 'first'"),
    says: /start with an empty folder/,
  },
};

test("a start that refuses changes no octet of the data: put back what was missing, and all is there", async (context) => {
  const directory = folderOf(context);
  const store = await openStore(directory, silentLog, secretsOf(directory));
  const { key } = await makeDevice(store, (await makeAccount(store)).key);
  await store.positions.append([{ device: key, records: [said(1)] }]);
  // The logs move into the databases once. What follows is in the logs alone.
  await store.close();
  const again = await openStore(directory, silentLog, secretsOf(directory));
  for (let second = 2; second < 6; second++) await again.positions.append([{ device: key, records: [said(second)] }]);
  const before = await readAll(again.positions, key);
  const killed = folderOf(context);
  cpSync(directory, killed, { recursive: true, filter: (path) => !path.endsWith(".lock") });
  await again.close();
  for (const [name, { spoil, says }] of Object.entries(refusals))
    await context.test(name, async () => {
      const copy = folderOf(context);
      cpSync(killed, copy, { recursive: true });
      spoil(copy);
      const spoiled = contentOf(copy);
      await assert.rejects(openStore(copy, silentLog, secretsOf(copy)), says);
      assert.deepEqual(contentOf(copy), spoiled);
      if (name.startsWith("the data are")) return;
      for (const part of ["waybeam.db", "positions.db", "secret.key"]) cpSync(join(killed, part), join(copy, part));
      const mended = await openStore(copy, silentLog, secretsOf(copy));
      assert.deepEqual(await readAll(mended.positions, key), before);
      await mended.close();
    });
});
