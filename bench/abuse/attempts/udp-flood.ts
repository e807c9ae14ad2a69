import { randomBytes } from "node:crypto";
import { protocolById } from "../../../src/protocols/index.ts";
import { numberedReport } from "../../../test/support/acked-tracker.ts";
import type { Attempt, Scene } from "../attempt.ts";
import { Datagrams } from "../peers.ts";
import { freshIds } from "../stage.ts";
import { wait } from "../tally.ts";

const senders = 200;

/** Datagrams from many peers, as fast as the sender's kernel takes them. */
function flood(name: string, tries: string, bytes: (index: number) => Uint8Array): Attempt {
  return {
    name,
    tries,
    holds: "others are acknowledged and answered",
    async run(scene: Scene) {
      const { devicePort, goesOn } = scene;
      const peers: Datagrams[] = [];
      for (let index = 0; index < scene.scale(senders, 20); index++)
        peers.push(await Datagrams.open(devicePort, `127.71.${index >> 4}.${1 + (index & 15)}`));
      scene.prepared();
      let sent = 0;
      while (goesOn()) {
        for (const peer of peers) await peer.send(bytes(sent++));
        // What a link of some 10,000 datagrams a second brings: a sender that leaves the machine no time measures only
        // itself.
        await wait(scene.scale(10, 50));
      }
      const answers = peers.reduce((sum, peer) => sum + peer.answers, 0);
      for (const peer of peers) peer.end();
      return { times: sent, happened: `${answers.toLocaleString("en")} answered` };
    },
  };
}

function h02(id: string, index: number): Uint8Array {
  const simulate = protocolById("h02")?.simulate;
  if (simulate === undefined) throw new Error("h02 has no simulator");
  return simulate.report(id, [numberedReport(Date.now() - 3_600_000, index)], index);
}

const noise = randomBytes(1400);
const known = freshIds(1000);

export const udpJunk = flood("udp-junk", "datagrams of random bytes from many peers", (index) =>
  noise.subarray(index % 700, 700 + (index % 700)),
);
export const udpInvented = flood("udp-invented", "datagrams of invented trackers from many peers", (index) =>
  h02(`9${String(index).padStart(9, "0")}`, index),
);
export const knocks = flood("knocks", "a thousand trackers that nobody registered report again and again", (index) =>
  h02(known[index % known.length] ?? "", index),
);
