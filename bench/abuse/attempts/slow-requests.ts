import type { Attempt } from "../attempt.ts";
import { Line } from "../peers.ts";
import { wait } from "../tally.ts";

const post = "POST /api/Auth/Token HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";

/** What is begun on each port and never ended. */
const beginnings = [
  { name: "heads at the API", port: "apiPort", text: "GET /api/devices HTTP/1.1\r\nx: " },
  { name: "bodies at the API", port: "apiPort", text: `${post}content-length: 900000\r\n\r\n{` },
  { name: "chunks at the API", port: "apiPort", text: `${post}transfer-encoding: chunked\r\n\r\nfffff\r\n` },
  { name: "heads at the trackers' port", port: "devicePort", text: "GET /?id=1 HTTP/1.1\r\nx: " },
  {
    name: "bodies at the trackers' port",
    port: "devicePort",
    text: "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 60000\r\n\r\n",
  },
  { name: "messages at the trackers' port", port: "devicePort", text: "\0\x0f1234" },
] as const;

/** Requests that come a byte at a time. */
export const slowRequests: Attempt = {
  name: "slow-requests",
  tries: "heads, bodies and messages that trickle in without end, on both ports",
  holds: "others are let in",
  async run(scene) {
    const lines = beginnings.flatMap(({ port, text }) =>
      Array.from({ length: scene.scale(150, 20) }, () => {
        const line = new Line(scene[port]);
        line.send(text);
        return line;
      }),
    );
    while (scene.goesOn()) {
      for (const line of lines) line.send("x");
      await wait(100);
    }
    const closed = lines.filter((line) => line.closed).length;
    for (const line of lines) line.end();
    return { times: lines.length, happened: `${closed} of ${lines.length} cut so far` };
  },
};
