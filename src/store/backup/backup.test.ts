import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { filled } from "../../../test/support/backup-folders.ts";
import { folderOf } from "../../../test/support/service.ts";
import { makeBackup } from "./backup.ts";

test("the number of a device that was added between the two copies is not given again", async (context) => {
  const { directory } = await filled(context, 2, 10);
  const live = new DatabaseSync(join(directory, "waybeam.db"));
  context.after(() => live.close());
  const target = join(folderOf(context), "backup");
  const options = {
    directory,
    secretFile: join(directory, "secret.key"),
    target,
    replace: false,
    withoutKeys: true,
    program: "1.0.0",
    pid: process.pid,
    now: 0,
  };
  const progress = (text: () => string) => {
    if (text().startsWith("copying positions.db"))
      live.exec("update sqlite_sequence set seq = 77 where name = 'device'");
  };
  await makeBackup(options, { signal: new AbortController().signal, progress });
  const copy = new DatabaseSync(join(target, "waybeam.db"), { readOnly: true });
  context.after(() => copy.close());
  assert.deepEqual({ ...copy.prepare("select seq from sqlite_sequence where name = 'device'").get() }, { seq: 77 });
});
