import type { Attempt, Scene } from "../attempt.ts";
import { packet, Tracker } from "../peers.ts";
import { many } from "../tally.ts";

const records = 20;

/** What a fleet kept while it was out of reach, in an order that no history likes. */
function backlog(name: string, order: string, place: (index: number, of: number) => number): Attempt {
  return {
    name,
    tries: `days of positions of many devices at once, ${order}`,
    holds: "they are acknowledged",
    async run(scene: Scene) {
      const ids = await scene.devices(scene.scale(100, 5));
      const packets = scene.scale(500, 10);
      const start = Date.now() - packets * records * 1000 - 60_000;
      let sent = 0;
      let answered = 0;
      await many(ids.length, ids.length, scene.goesOn, async (device) => {
        const tracker = await Tracker.login(scene, ids[device] ?? "");
        let own = 0;
        for (; own < packets && scene.goesOn(); own++) {
          const at = place(own, packets) * records;
          tracker.line.send(packet(records, start + at * 1000 + device, at));
          if (!(await tracker.answeredAll(own - 3))) break;
        }
        scene.must(await tracker.answeredAll(own), "they are acknowledged");
        sent += own;
        answered += tracker.answered;
        tracker.line.end();
      });
      return {
        times: ids.length,
        happened: `${(answered * records).toLocaleString("en")} of ${(sent * records).toLocaleString("en")} positions acknowledged`,
      };
    },
  };
}

export const newestFirst = backlog("backlog-newest-first", "the newest first", (index, of) => of - 1 - index);
export const randomOrder = backlog("backlog-random", "in random order", (index, of) => (index * 7919) % of);
