import type { Attempt } from "../attempt.ts";
import { packet, Tracker } from "../peers.ts";
import { wait } from "../tally.ts";

/** Seconds of the history that late reports lie in. */
const range = 40_000;

/** Each of many reports lies somewhere between those that are stored: a patch of its own. */
export const lateFixes: Attempt = {
  name: "late-fixes",
  tries: "thousands of positions of one device, each somewhere between stored ones",
  holds: "they are acknowledged",
  async run(scene) {
    const [id = ""] = await scene.devices(1);
    const start = Date.now() - 2 * range * 1000;
    const tracker = await Tracker.login(scene, id);
    tracker.line.send(packet(1, start, 0));
    tracker.line.send(packet(1, start + range * 1000, range));
    let sent = 2;
    for (let index = 0; scene.goesOn() && index < scene.scale(20_000, 300); index++) {
      // A step that meets every second once.
      const second = (index * 15_401) % range;
      tracker.line.send(packet(1, start + second * 1000 + 500, second));
      sent++;
      if (sent - tracker.answered > 200) await tracker.line.until(() => sent - tracker.answered < 100, 5000);
      else if (index % 50 === 0) await wait(1);
    }
    scene.must(await tracker.answeredAll(sent), "they are acknowledged");
    const happened = `${tracker.answered.toLocaleString("en")} of ${sent.toLocaleString("en")} acknowledged`;
    tracker.line.end();
    return { times: sent, happened };
  },
};
