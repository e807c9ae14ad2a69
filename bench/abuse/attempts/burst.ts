import { avlLogin } from "../../support/avl.ts";
import type { Attempt } from "../attempt.ts";
import { Line, packet, patienceMs } from "../peers.ts";

const packets = 200;

/** More packets in one piece than a connection has in flight. */
export const burst: Attempt = {
  name: "burst",
  tries: `${packets} packets of a tracker in one piece, by many trackers`,
  holds: "each packet is acknowledged",
  async run({ devices, devicePort, goesOn, scale, must }) {
    const ids = await devices(scale(50, 3));
    const start = Date.now() - 86_400_000;
    let times = 0;
    let acknowledged = 0;
    for (const id of ids) {
      if (!goesOn()) break;
      const line = new Line(devicePort);
      const pieces = Array.from({ length: packets }, (_, index) => packet(1, start + index * 1000, index));
      line.send(Buffer.concat([avlLogin(id), ...pieces]));
      await line.until(() => line.received >= 1 + packets * 4, patienceMs);
      times++;
      acknowledged += Math.max(0, Math.floor((line.received - 1) / 4));
      line.end();
    }
    must(acknowledged === times * packets, `each packet is acknowledged: ${acknowledged} of ${times * packets}`);
    return { times, happened: `${acknowledged.toLocaleString("en")} packets acknowledged` };
  },
};
