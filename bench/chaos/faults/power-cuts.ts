import { anyPorts } from "../../../test/support/service.ts";
import { commandLine, killedAfter } from "../../../test/support/waybeam.ts";
import { type Cut, Disk } from "../disk.ts";
import type { Fault, Scene } from "../fault.ts";
import { noPreload } from "../preload.ts";

/** What a start may take before its power is cut, ms. */
const startMs = 1500;

/** What the service does when the power is cut: most often it stores reports. */
const moments = ["reporting", "reporting", "resting", "starting", "stopped"] as const;

/** Lets the service work, and ends it. */
async function work(scene: Scene, disk: Disk, moment: (typeof moments)[number]): Promise<void> {
  const { directory, start, report, rest, wait, kill, stop, random } = scene;
  if (moment === "starting") {
    const child = commandLine(directory).start(["serve"], {
      ...anyPorts,
      WAYBEAM_LOG_LEVEL: "silent",
      ...disk.environment(),
    });
    await killedAfter(child, directory, random() * startMs);
    return;
  }
  await start({ environment: disk.environment() });
  await report();
  if (moment === "resting") {
    rest();
    await wait(300);
  }
  if (moment === "stopped") await stop();
  else await kill();
}

async function cutOften(scene: Scene, cuts: readonly Cut[]): Promise<void> {
  const { directory, rounds, kill, random, count } = scene;
  await kill();
  for (let round = 0; round < rounds; round++) {
    const disk = new Disk(directory);
    try {
      // The first start ever is one that must be played: what it makes is made once.
      const moment = moments[Math.floor(random() * moments.length)] ?? "reporting";
      await work(scene, disk, moment);
      scene.must(disk.operations > 0, "what the service does to its disk is recorded");
      const lost = disk.cut(cuts[Math.floor(random() * cuts.length)] ?? "nothing", random);
      count(`cuts while ${moment}`);
      count("operations lost", lost);
    } finally {
      disk.close();
    }
  }
  await scene.start();
}

/** The power fails: what was written and not yet synced is lost, or a part of it. */
export const powerCuts: readonly Fault[] = [
  {
    name: "power-cut",
    does: "the power is cut: of what was written and not synced, nothing or any part is on the disk",
    impossible: noPreload,
    run: (scene) => cutOften(scene, ["nothing", "some"]),
  },
  {
    name: "torn-writes",
    does: "the power is cut while pages are written: of each write that was not synced, any sectors are on the disk",
    impossible: noPreload,
    run: (scene) => cutOften(scene, ["sectors"]),
  },
];
