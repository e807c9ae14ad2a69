import { setTimeout as sleep } from "node:timers/promises";
import type { Cut } from "../disk.ts";
import { Disk } from "../disk.ts";
import type { Fault, Scene } from "../fault.ts";
import { MovedClock, noPreload, together } from "../preload.ts";
import { deletedPositions, nextLookMs, nextRunMs, oldPositions, setDays } from "../retention.ts";

const dayMs = 86_400_000;
/** The service's clock begins just after the beginning of a UTC day, so that the day does not change meanwhile. */
const beginning = Math.floor(Date.now() / dayMs) * dayMs + 10_000;
const aheadMs = beginning - Date.now();
const keptDays = 1;
const keptFrom = beginning - 10_000 - keptDays * dayMs;
/** A tracker's first messages, each of a second, that are old. */
const oldMessages = 150;
/**
 * Messages after which a tracker's late reports are no longer old, and its reports are of the last 24 hours. The
 * service must see that its clock is right before it deletes anything.
 */
const newMessages = oldMessages + 250;

/** How long the service deletes at most before it is killed, ms. */
const workMs = 1500;
const killsInARow = 2;
/** Longer than an undisturbed run of deletions takes, ms. */
const runMs = 10_000;
/** The most runs until everything old is deleted: a run may leave a device to the next one. */
const mostRuns = 6;
const cuts: readonly (Cut | undefined)[] = [undefined, "nothing", "some", "sectors"];

/** Lets the service delete old positions, and kills it. Half of the time the power is cut, too. */
async function killed(scene: Scene): Promise<void> {
  const { directory, start, kill, report, wait, random, count } = scene;
  await kill();
  const clock = new MovedClock(aheadMs);
  const disk = new Disk(directory);
  try {
    await start({ environment: together(disk.environment(), clock.environment) });
    await report();
    clock.pass(nextLookMs);
    await wait(workMs);
    count("positions deleted", await deletedPositions(scene));
    await kill();
    count("kills");
    const cut = cuts[Math.floor(random() * cuts.length)];
    if (cut === undefined) return;
    disk.cut(cut, random);
    count("power cuts");
  } finally {
    disk.close();
    clock.close();
  }
}

/** Some devices keep their positions for a day, and the others for ever. */
async function round(scene: Scene, devices: readonly string[]): Promise<void> {
  const { start, kill, report, rest, count, must } = scene;
  await setDays(scene, devices, keptDays);
  for (let times = 0; times < killsInARow; times++) await killed(scene);
  const clock = new MovedClock(aheadMs);
  await start({ environment: clock.environment });
  await report();
  // A device that reports all the time is left to the next run.
  rest();
  for (let runs = 0; runs < mostRuns && (await oldPositions(scene, devices, keptDays)) > 0; runs++) {
    clock.pass(runs === 0 ? nextLookMs : nextRunMs);
    const end = performance.now() + runMs;
    while (performance.now() < end && (await oldPositions(scene, devices, keptDays)) > 0) await sleep(100);
  }
  must((await oldPositions(scene, devices, keptDays)) === 0, "what is old is deleted in the end");
  count("positions deleted", await deletedPositions(scene));
  // So that what is left is shown.
  await setDays(scene, devices, null);
  await kill();
  clock.close();
  // By the machine's clock. Nothing else is kept for some days only.
  await start();
}

/** Old positions are deleted, and the service is killed meanwhile. */
export const retention: Fault = {
  name: "kill-retention",
  does: "SIGKILL while positions are deleted that are older than positionDays; most of the time the power is cut, too",
  holds: "positions that are not old are there, and all totals are those of the whole history",
  clock: true,
  histories: { start: keptFrom - oldMessages * 1000, keptFrom },
  impossible: noPreload,
  run: async (scene) => {
    const { rounds, devices, start, reported } = scene;
    await start();
    await reported(newMessages);
    for (let number = 0; number < rounds; number++)
      await round(
        scene,
        devices.filter((_, index) => index % rounds === number),
      );
  },
};
