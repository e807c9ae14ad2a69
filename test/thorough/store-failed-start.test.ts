import assert from "node:assert/strict";
import {
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { neverReported } from "../../src/model/location.ts";
import { DataFolderUnusable } from "../../src/store/sqlite/folder.ts";
import { batchOf, readAll } from "../contract/store/records.ts";
import { crashed, devicesOf, folder, written } from "../support/kept-states.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore, secretsOf } from "../support/store.ts";

test("a start that fails ends what it began: it went on sealing, and the process did not end for as long as there were devices to seal", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory);
  const devices = await devicesOf(store, 3);
  let states = devices.map(() => neverReported);
  for (let at = 0; at < 250; at++) {
    const commits = devices.map((device, index) => written(device, states[index] ?? neverReported));
    assert.equal(await store.locations.commit(batchOf(...commits)), undefined);
    states = commits.map(({ state }) => state);
  }
  // Each has a block of records in its tail now, and is sealed by the next start.
  const commits = devices.map((device, index) => written(device, states[index] ?? neverReported, 300));
  assert.equal(await store.locations.commit(batchOf(...commits)), undefined);
  const copy = crashed(context, directory);
  // In the place of the file that a start writes last, as a full disk would refuse it.
  rmSync(join(copy, "waybeam.db-open"), { force: true });
  mkdirSync(join(copy, "waybeam.db-open"));
  const warned: string[] = [];
  const log = { ...silentLog, warn: (_fields: object, text?: string) => void warned.push(text ?? "") };
  await assert.rejects(openStore(copy, log), DataFolderUnusable);
  assert.ok(statSync(join(copy, "waybeam.db-wal")).size > 0, "the log stays");
  warned.length = 0;
  await pause(1500);
  assert.deepEqual(warned, []);
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

function overwritten(file: string, at: number, length: number): void {
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(length), 0, length, at);
  closeSync(descriptor);
}

const refusals: Readonly<Record<string, { readonly spoil: (copy: string) => void; readonly says: RegExp }>> = {
  "the database is cut short": {
    spoil: (copy) => truncateSync(join(copy, "waybeam.db"), 3 * 8192),
    says: /waybeam\.db is cut short/,
  },
  "the database is empty": { spoil: (copy) => truncateSync(join(copy, "waybeam.db"), 0), says: /is empty/ },
  "the database is missing": { spoil: (copy) => rmSync(join(copy, "waybeam.db")), says: /is missing/ },
  "the log is missing": { spoil: (copy) => rmSync(join(copy, "waybeam.db-wal")), says: /waybeam\.db-wal is missing/ },
  "the log is missing and the database is none": {
    spoil: (copy) => {
      rmSync(join(copy, "waybeam.db-wal"));
      overwritten(join(copy, "waybeam.db"), 0, 100);
    },
    says: /file is not a database/,
  },
  "the log is damaged": {
    spoil: (copy) => overwritten(join(copy, "waybeam.db-wal"), 32 + 24 + 8, 100),
    says: /waybeam\.db-wal is damaged/,
  },
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
};

test("a start that refuses changes no octet of the data: put back what was missing, and all is there", async (context) => {
  const directory = folder(context);
  const store = await openStore(directory, silentLog, secretsOf(directory));
  const [device = assert.fail()] = await devicesOf(store, 1);
  let state = neverReported;
  const commit = async (into: typeof store) => {
    const next = written(device, state, 300);
    assert.equal(await into.locations.commit(batchOf(next)), undefined);
    ({ state } = next);
  };
  await commit(store);
  // The log moves into the database once. What follows is in the log alone.
  await store.close();
  const again = await openStore(directory, silentLog, secretsOf(directory));
  for (let commits = 0; commits < 4; commits++) await commit(again);
  const before = await readAll(again, device.key);
  const killed = crashed(context, directory);
  for (const [name, { spoil, says }] of Object.entries(refusals))
    await context.test(name, async () => {
      const copy = folder(context);
      cpSync(killed, copy, { recursive: true });
      spoil(copy);
      const spoiled = contentOf(copy);
      await assert.rejects(openStore(copy, silentLog, secretsOf(copy)), says);
      assert.deepEqual(contentOf(copy), spoiled);
      cpSync(join(killed, "waybeam.db"), join(copy, "waybeam.db"));
      for (const part of ["secret.key", "waybeam.db-wal"])
        if (name.startsWith(part === "secret.key" ? "the key" : "the log"))
          cpSync(join(killed, part), join(copy, part));
      if (name.startsWith("the data")) return;
      const mended = await openStore(copy, silentLog, secretsOf(copy));
      assert.equal((await readAll(mended, device.key)).json, before.json);
      await mended.close();
    });
});
