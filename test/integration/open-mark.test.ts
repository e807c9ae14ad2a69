import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { dataFolder, end, removeFolder, startService } from "../support/service.ts";

/** Reads the database in one transaction until it is ended, as a backup does: the log can't be moved into the database meanwhile. */
const reader = `
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(process.argv[1], { readOnly: true });
  database.exec("begin");
  database.prepare("select count(*) from migration").get();
  process.stdout.write("reads");
  setInterval(() => {}, 1000);
`;

test("a service that stops, starts and is killed while a backup reads its database starts again", {
  timeout: 120_000,
}, async (context) => {
  const directory = dataFolder();
  const file = join(directory, "waybeam.db");
  context.after(() => removeFolder(directory));
  await (await startService(directory)).stop();
  assert.ok(!existsSync(`${file}-open`), "a clean end without a reader leaves no mark");
  const child = spawn(process.execPath, ["-e", reader, file]);
  context.after(() => end(child, "SIGKILL"));
  await once(child.stdout, "data");
  for (let round = 0; round < 2; round++) {
    await (await startService(directory)).stop();
    assert.ok(existsSync(`${file}-wal`), "the log stays while somebody reads");
    await (await startService(directory)).kill();
  }
  await end(child, "SIGKILL");
  await (await startService(directory)).kill();
  await (await startService(directory)).stop();
  assert.ok(!existsSync(`${file}-open`), `${existsSync(`${file}-open`) && readFileSync(`${file}-open`, "latin1")}`);
});
