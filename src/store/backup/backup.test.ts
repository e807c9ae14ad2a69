import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { filled } from "../../../test/support/backup-folders.ts";
import { folderOf } from "../../../test/support/service.ts";
import { type BackupOptions, makeBackup } from "./backup.ts";

function optionsOf(directory: string, target: string): BackupOptions {
  const secretFile = join(directory, "secret.key");
  return {
    directory,
    secretFile,
    target,
    replace: false,
    withoutKeys: true,
    program: "1.0.0",
    pid: process.pid,
    now: 0,
  };
}

test("the number of a device that was added between the two copies is not given again", async (context) => {
  const { directory } = await filled(context, 2, 10);
  const live = new DatabaseSync(join(directory, "waybeam.db"));
  context.after(() => live.close());
  const progress = (text: () => string) => {
    if (text().startsWith("copying positions.db"))
      live.exec("update sqlite_sequence set seq = 77 where name = 'device'");
  };
  const target = join(folderOf(context), "backup");
  await makeBackup(optionsOf(directory, target), { signal: new AbortController().signal, progress });
  const copy = new DatabaseSync(join(target, "waybeam.db"), { readOnly: true });
  context.after(() => copy.close());
  assert.deepEqual({ ...copy.prepare("select seq from sqlite_sequence where name = 'device'").get() }, { seq: 77 });
});

test("what was followed after the follower's rows were copied is followed again from the copy", async (context) => {
  const { directory } = await filled(context, 2, 10);
  const live = new DatabaseSync(join(directory, "positions.db"));
  context.after(() => live.close());
  live.exec("update log_end set followed = 1");
  const progress = (text: () => string) => {
    if (text().startsWith("copying positions.db")) live.exec("update log_end set followed = 2");
  };
  const target = join(folderOf(context), "backup");
  await makeBackup(optionsOf(directory, target), { signal: new AbortController().signal, progress });
  const copy = new DatabaseSync(join(target, "positions.db"), { readOnly: true });
  context.after(() => copy.close());
  assert.deepEqual({ ...copy.prepare("select followed from log_end").get() }, { followed: 1 });
});
