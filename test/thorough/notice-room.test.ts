import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { migrate } from "../../src/store/migrations/migrations.ts";
import { CrowdedNotices } from "../../src/store/rows/notice-room.ts";
import { noticeRow } from "../../src/store/rows/notices.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import { engine } from "../../src/store/sqlite/engine.ts";
import { newAlert, newNotice } from "../contract/store/alert-values.ts";
import { now } from "../contract/store/harness.ts";
import { plainSqlite } from "../support/plain-sqlite.ts";

it("a device whose notices can't be deleted keeps no other device from its bound, and is looked at again later", async () => {
  const folder = await mkdtemp(join(tmpdir(), "notice-room-"));
  const { file, rows } = plainSqlite(join(folder, "waybeam.db"));
  try {
    await migrate(rows, engine);
    const [bad, good] = [1, 2];
    const ended = { state: "suppressed", reason: "r" } as const;
    const add = (device: number) =>
      rows
        .insertInto("notice")
        .values([1, 2].map(() => noticeRow(newNotice(newAlert(device, 1), ended), openVault)))
        .execute();
    await add(bad);
    await add(good);
    file.exec(
      "create trigger damage before delete on notice when old.device = 1 begin select raise(abort, 'bad'); end",
    );
    const crowded = new CrowdedNotices(1);
    const left = async (device: number) =>
      (await rows.selectFrom("notice").select("key").where("device", "=", device).execute()).length;
    for (const device of [bad, good]) crowded.made(device, 2);
    await assert.rejects(crowded.makeRoom(rows, now), /bad/);
    assert.deepEqual(await crowded.makeRoom(rows, now), { givenUp: [], more: false });
    assert.deepEqual([await left(bad), await left(good)], [2, 1]);
    file.exec("drop trigger damage");
    crowded.made(bad, 1);
    await crowded.makeRoom(rows, now);
    assert.equal(await left(bad), 1);
  } finally {
    await rows.destroy();
    await rm(folder, { recursive: true });
  }
});
