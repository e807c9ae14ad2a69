import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { neverReported } from "../../src/model/location.ts";
import { DataFolderUnusable } from "../../src/store/sqlite/folder.ts";
import { batchOf, readAll } from "../contract/store/records.ts";
import { chance } from "../support/any-order.ts";
import { crashed, devicesOf, findingsOf, folder, following } from "../support/kept-states.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore } from "../support/store.ts";

const seed = Number(process.env.DAMAGE_SEED ?? Date.now() % 2 ** 31);
const trials = Number(process.env.DAMAGE_TRIALS ?? 40);

const frameBytes = 24 + 8192;

test(`a changed bit in the log of a killed service loses nothing, or is told at the start and by "waybeam check" (DAMAGE_SEED=${seed})`, async (context) => {
  const random = chance(seed);
  const directory = folder(context);
  const store = await openStore(directory);
  const [device = assert.fail()] = await devicesOf(store, 1);
  let state = neverReported;
  for (let commits = 0; commits < 12; commits++) {
    const commit = following(device, state);
    await store.locations.commit(batchOf(commit));
    ({ state } = commit);
  }
  const before = await readAll(store, device.key);
  const base = crashed(context, directory);
  const log = readFileSync(join(base, "waybeam.db-wal"));
  // Behind them are frames of an older log.
  const isOwn = (frame: number) =>
    log.compare(log, 16, 24, 32 + frame * frameBytes + 8, 32 + frame * frameBytes + 16) === 0;
  let frames = 0;
  while (isOwn(frames)) frames++;
  const counts = { whole: 0, refused: 0, told: 0 };
  assert.deepEqual(await findingsOf(base), []);
  for (let trial = 0; trial < trials; trial++) {
    const copy = folder(context);
    cpSync(base, copy, { recursive: true });
    const changed = Buffer.from(log);
    // Every other one in the head of a frame: page, size after the commit, salts, sums. Many in the last commits.
    const frame = Math.floor(random() < 0.5 ? random() * frames : frames - 1 - random() * 3);
    const at = 32 + frame * frameBytes + Math.floor(random() * (random() < 0.5 ? 24 : frameBytes));
    const bit = 1 << Math.floor(random() * 8);
    changed[at] = (changed[at] ?? 0) ^ bit;
    writeFileSync(join(copy, "waybeam.db-wal"), changed);
    const what = `bit ${bit} of octet ${at} of ${log.length}, frame ${frame} of ${frames}`;
    const found = await findingsOf(copy).catch((error: unknown) => [{ problem: String(error) }]);
    const warned: string[] = [];
    try {
      const again = await openStore(copy, { ...silentLog, warn: (_fields, text) => void warned.push(text ?? "") });
      const after = await readAll(again, device.key);
      await again.close();
      if (after.json === before.json) {
        counts.whole++;
        continue;
      }
      counts.told++;
      assert.ok(
        warned.some((text) => text.includes("waybeam.db-wal")),
        `${what}: ${after.count} of ${before.count} are left, and nothing is told`,
      );
    } catch (error) {
      if (!(error instanceof DataFolderUnusable)) throw error;
      counts.refused++;
      assert.match(error.message, /waybeam\.db-wal/);
    }
    assert.ok(found.length > 0, `${what}: check finds nothing`);
  }
  context.diagnostic(JSON.stringify(counts));
});
