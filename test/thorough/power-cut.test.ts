import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type Cut, Disk } from "../../bench/chaos/disk.ts";
import { noPreload } from "../../bench/chaos/preload.ts";
import { Stage } from "../../bench/chaos/stage.ts";
import { chance } from "../support/chance.ts";
import { noFiles } from "../support/engine.ts";
import { folderOf, startService } from "../support/service.ts";

const cuts: readonly Cut[] = ["nothing", "some", "sectors"];

describe("a power cut", { skip: noFiles || (noPreload() ?? false) }, () => {
  for (const cut of cuts)
    it(`keeps what was synced, and of everything else ${cut}`, (context) => {
      const folder = folderOf(context);
      const place = (name: string) => join(folder, name);
      writeFileSync(place("before"), "x".repeat(2048));
      const disk = new Disk(folder);
      const script = `
        const fs = require("node:fs");
        const sync = (path) => { const file = fs.openSync(path, "r"); fs.fsyncSync(file); fs.closeSync(file); };
        const put = (name, text, flags = "w") => fs.writeFileSync(name, text, { flag: flags });
        put("synced", "s".repeat(4096)); sync("synced");
        put("old", "o"); sync("old"); fs.renameSync("old", "new");
        sync(".");
        put("synced", "t".repeat(2048), "r+");
        put("before", "", "w"); put("before", "y".repeat(2048), "a");
        fs.mkdirSync("folder"); put("folder/unsynced", "u"); fs.rmSync("new");
      `.replaceAll(/"(synced|old|new|before|folder\/?\w*|\.)"/g, (_, name: string) => JSON.stringify(place(name)));
      const { status, stderr } = spawnSync(process.execPath, ["-e", script], {
        env: { ...process.env, ...disk.environment() },
        encoding: "utf8",
      });
      assert.equal(status, 0, stderr);
      assert.equal(readFileSync(place("synced"), "latin1"), "t".repeat(2048) + "s".repeat(2048));
      assert.ok(!existsSync(place("new")));
      const lost = disk.cut(cut, chance(7));
      disk.close();
      const [synced, before] = ["synced", "before"].map((name) => readFileSync(place(name), "latin1"));
      assert.equal(synced?.slice(2048), "s".repeat(2048));
      assert.ok(existsSync(place("new")) || cut !== "nothing");
      if (cut !== "nothing") return assert.match(String(synced) + before, /^[st]{4096}[xy\0]*$/);
      assert.deepEqual([synced, before], ["s".repeat(4096), "x".repeat(2048)]);
      assert.equal(readFileSync(place("new"), "latin1"), "o");
      assert.ok(!existsSync(place("folder")));
      assert.ok(lost > 4);
    });

  it("shows where trackers were told that something is stored, and it was not synced", async () => {
    const stage = new Stage({ whole: false, rounds: 1, reportMs: 400 }, 5);
    const { broken } = await stage.play({
      name: "lying-disk",
      does: "the power is cut after a disk said of everything that it is synced, and synced nothing",
      run: async ({ directory, start, report, stop, kill }) => {
        await start();
        await report();
        await stop();
        const disk = new Disk(directory);
        await start({ environment: { ...disk.environment(), CHAOS_LIES: "1" } });
        await report();
        await kill();
        disk.cut("nothing", chance(1));
        disk.close();
      },
    });
    await stage.close();
    assert.match(broken.join("\n"), /acknowledged and not stored/);
  });

  it("leaves the keys that the first start made", async (context) => {
    const folder = folderOf(context);
    const disk = new Disk(folder);
    const service = await startService(folder, disk.environment());
    await service.kill();
    const made = readFileSync(join(folder, "credentials.json"), "utf8");
    disk.cut("nothing", chance(1));
    disk.close();
    assert.equal(readFileSync(join(folder, "credentials.json"), "utf8"), made);
    const again = await startService(folder);
    await again.kill();
  });
});
