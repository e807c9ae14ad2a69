import { randomBytes } from "node:crypto";
import { avlLogin } from "../../support/avl.ts";
import type { Attempt, Scene } from "../attempt.ts";
import { Line, packet, report } from "../peers.ts";
import { wait } from "../tally.ts";

/** Connections that pour bytes as long as they are taken, and open again when they are closed. */
function flood(
  name: string,
  tries: string,
  bytes: (id: string) => () => Uint8Array | string,
  connections = 10,
): Attempt {
  return {
    name,
    tries,
    holds: "they are closed, answered as failures or read slowly",
    async run(scene: Scene) {
      const [id = ""] = await scene.devices(1);
      const make = bytes(id);
      let opened = 0;
      let written = 0;
      await Promise.all(
        Array.from({ length: connections }, async () => {
          while (scene.goesOn()) {
            const line = new Line(scene.devicePort);
            opened++;
            written += await line.pour(make, scene.goesOn);
            line.end();
            await wait(10);
          }
        }),
      );
      return {
        times: opened,
        happened: `${(written / 1e6).toFixed(1)} MB taken on ${opened.toLocaleString("en")} connections`,
      };
    },
  };
}

const noise = randomBytes(65_536);
const good = packet(20, Date.now() - 3_600_000, 1);

/** The packet with one byte changed; the checksum is as it was. */
function damaged(): Uint8Array {
  const bytes = Uint8Array.from(good);
  const at = 8 + Math.floor(Math.random() * (bytes.length - 12));
  bytes[at] = (bytes[at] ?? 0) ^ 0x55;
  return bytes;
}

export const junkBytes = flood(
  "junk-bytes",
  "random bytes on the trackers' port, as fast as they are taken",
  () => () => noise,
);
export const pings = flood("junk-ff", "0xFF without end on the trackers' port", () => {
  const bytes = new Uint8Array(65_536).fill(0xff);
  return () => bytes;
});
export const truncated = flood("truncated-frames", "frames that are cut short, one behind the other", (id) => {
  const bytes = Buffer.concat([avlLogin(id), ...[40, 200, 700].map((length) => good.subarray(0, length))]);
  return () => bytes;
});
export const wrongChecksum = flood(
  "wrong-checksums",
  "frames with damaged bytes under a checksum that does not fit",
  (id) => {
    let first = true;
    return () => {
      const bytes = first ? Buffer.concat([avlLogin(id), damaged()]) : damaged();
      first = !first;
      return bytes;
    };
  },
);
export const longReports = flood(
  "long-reports",
  "reports over HTTP with as many long parameters as a request holds",
  (id) => {
    const texts = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`text${index}`, "x".repeat(4000)]));
    let step = 0;
    return () => report(id, { timestamp: Math.floor(Date.now() / 1000) - 80_000 + step++, lat: 48, lon: 11, ...texts });
  },
);
