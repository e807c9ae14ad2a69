import type { Attempt, Scene } from "../attempt.ts";
import { packet, Tracker } from "../peers.ts";
import { many } from "../tally.ts";

/** Trackers whose clock is wrong in one way. */
function clock(name: string, tries: string, time: (step: number) => number): Attempt {
  return {
    name,
    tries,
    holds: "what is sent is answered, kept or refused",
    async run(scene: Scene) {
      const ids = await scene.devices(scale(scene));
      let sent = 0;
      let answered = 0;
      await many(ids.length, ids.length, scene.goesOn, async (device) => {
        const tracker = await Tracker.login(scene, ids[device] ?? "");
        let own = 0;
        for (; scene.goesOn() && own < scene.scale(2000, 20); own++) {
          tracker.line.send(packet(5, time(own), own * 97));
          if (!(await tracker.answeredAll(own + 1))) break;
        }
        scene.must(tracker.answered >= own || tracker.line.closed, "what is sent is answered");
        sent += own;
        answered += tracker.answered;
        tracker.line.end();
      });
      return { times: sent, happened: `${answered.toLocaleString("en")} packets of 5 positions answered` };
    },
  };
}

const scale = (scene: Scene) => scene.scale(20, 3);
const now = Date.now();

export const stuckClock = clock(
  "clock-stuck",
  "trackers whose clock stands still while they drive",
  () => now - 3_600_000,
);
export const futureClock = clock(
  "clock-future",
  "trackers whose clock is a year ahead",
  (step) => now + 365 * 86_400_000 + step * 5000,
);
export const oldClock = clock(
  "clock-2000",
  "trackers whose clock began at the year 2000",
  (step) => Date.UTC(2000, 0, 1) + step * 5000,
);
