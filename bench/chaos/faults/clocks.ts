import type { Fault, Scene } from "../fault.ts";
import { MovedClock, noPreload } from "../preload.ts";
import { deletedPositions, nextLookMs, setDays } from "../retention.ts";

const dayMs = 86_400_000;
/** Positions are kept for so many days: by a clock that is a year ahead, all of them are old. */
const keptDays = 30;
/** How long the clock is wrong at most, ms. */
const wrongMs = 1500;

const jumps = [
  { name: "a year ahead", ms: 365 * dayMs },
  { name: "a day back", ms: -dayMs },
] as const;

/** How far the service's clock is ahead of the machine's, ms, as its answers tell. */
async function aheadMs({ service }: Scene): Promise<number> {
  const { headers } = await fetch(`${service.url}/health/ready`);
  return Date.parse(headers.get("date") ?? "") - Date.now();
}

/** The clock jumps, and back. Half of the time the service is killed meanwhile, and starts by the wrong clock. */
async function jump(scene: Scene, clock: MovedClock, { name, ms }: (typeof jumps)[number]): Promise<void> {
  const { start, report, kill, wait, random, allAcknowledged, count, must } = scene;
  const environment = clock.environment;
  clock.set(0);
  await start({ environment });
  await setDays(scene, scene.devices, keptDays);
  await report();
  clock.set(ms);
  count(`jumps ${name}`);
  await wait(wrongMs);
  if (random() < 0.5) {
    await kill();
    await start({ environment });
    count("starts by a wrong clock");
    await wait(wrongMs);
  }
  // What looks late is acknowledged; what looks to be from the future waits.
  if (ms > 0) await allAcknowledged();
  clock.pass(nextLookMs);
  await wait(wrongMs);
  must((await deletedPositions(scene)) === 0, "nothing is deleted by a clock that is wrong");
  must(Math.abs((await aheadMs(scene)) - ms) < dayMs / 2, `the service's clock is ${name}`);
  clock.set(0);
  await allAcknowledged();
  clock.pass(nextLookMs);
  // Killed, so that the next start has the machine's clock and another token.
  await kill();
}

/** The machine's clock is wrong for a while. */
export const clocks: Fault = {
  name: "clock-jumps",
  does: "the clock jumps ahead by a year or back by a day while trackers report, and is set right later; half of the time the service is killed meanwhile and starts by the wrong clock",
  holds: "nothing is refused or deleted by a wrong clock, and every tracker is acknowledged again when it is right",
  clock: true,
  histories: { start: Date.now() - (20 * dayMs) / 24 },
  impossible: noPreload,
  run: async (scene) => {
    const clock = new MovedClock();
    for (let round = 0; round < scene.rounds; round++) for (const each of jumps) await jump(scene, clock, each);
    await scene.start();
    clock.close();
  },
};
