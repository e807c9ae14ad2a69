import { setTimeout as sleep } from "node:timers/promises";
import { anyPorts } from "../../../test/support/service.ts";
import { commandLine, killedAfter } from "../../../test/support/waybeam.ts";
import type { Fault, Scene } from "../fault.ts";

/** Blocks that the service has packed. */
async function blocks({ service }: Scene): Promise<number> {
  return Number(/^waybeam_store_blocks (\d+)/m.exec(await service.metrics())?.[1] ?? 0);
}

/** The service is killed while trackers report. */
export const killIngest: Fault = {
  name: "kill-ingest",
  does: "SIGKILL while trackers report",
  run: async ({ rounds, start, report, kill, count }) => {
    for (let round = 0; round < rounds; round++) {
      await start();
      await report();
      await kill();
      count("kills");
    }
  },
};

/** How long the next block may take, ms: packing gives way to all else, also to other programs. */
const patienceMs = 60_000;

/** The kill comes just after one more block is there, while trackers report and packing goes on. */
const packing: Fault = {
  name: "kill-packing",
  does: "SIGKILL while positions are packed into blocks",
  run: async (scene) => {
    const { rounds, start, report, kill, random, count, must } = scene;
    for (let round = 0; round < rounds; round++) {
      await start();
      await report();
      const before = await blocks(scene);
      const end = performance.now() + patienceMs;
      let packed = false;
      for (; !packed && performance.now() < end; await sleep(random() * 20)) packed = (await blocks(scene)) > before;
      must(packed, "positions are packed before the kill");
      await kill();
      count("kills");
    }
  },
};

const stopping: Fault = {
  name: "kill-stop",
  does: "SIGTERM while trackers report, and SIGKILL before the service has stopped",
  run: async (scene) => {
    const { rounds, start, report, kill, wait, count } = scene;
    for (let round = 0; round < rounds; round++) {
      await start();
      await report();
      const { child } = scene.service;
      child.kill("SIGTERM");
      await wait(150);
      count(child.exitCode === null ? "kills" : "stops that were quicker");
      await kill();
    }
  },
};

/** What the start may take before it is killed, ms: longer than it takes on a machine that has nothing else to do. */
const startMs = 400;
const startsInARow = 2;

const starting: Fault = {
  name: "kill-start",
  does: "SIGKILL while the service starts on what a kill left, several times in a row",
  run: async ({ directory, rounds, start, report, kill, random, count }) => {
    for (let round = 0; round < rounds; round++) {
      await start();
      await report();
      await kill();
      for (let times = 0; times < startsInARow; times++) {
        const child = commandLine(directory).start(["serve"], { ...anyPorts, WAYBEAM_LOG_LEVEL: "silent" });
        await killedAfter(child, directory, random() * startMs);
        count("kills");
      }
    }
  },
};

/** The service is killed at random moments of what it does. */
export const kills: readonly Fault[] = [killIngest, packing, stopping, starting];
