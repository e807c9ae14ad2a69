import type { Attempt } from "../attempt.ts";
import { Client } from "../client.ts";
import { Line } from "../peers.ts";
import { freshAddress } from "../stage.ts";
import { many, wait } from "../tally.ts";

const sockets = 3999;
const ask = "GET /health/live HTTP/1.1\r\nhost: a\r\n\r\n";

/** Connections of the REST port that are kept and not used. */
export const idleSockets: Attempt = {
  name: "idle-sockets",
  tries: `${sockets.toLocaleString("en")} keep-alive connections of the REST port that ask once and stay`,
  holds: "who comes from elsewhere is let in",
  async run({ apiPort, goesOn, scale, must }) {
    const lines: Line[] = [];
    await many(scale(sockets, 300), 50, goesOn, async () => {
      const line = new Line(apiPort);
      lines.push(line);
      line.send(ask);
      await line.until(() => line.received > 0, 2000);
    });
    while (goesOn()) await wait(50);
    const newcomer = new Client(apiPort, "", freshAddress());
    const { status } = await newcomer.ask("GET", "/health/live");
    must(status === 200, `who comes from elsewhere is let in: ${status}`);
    newcomer.close();
    const closed = lines.filter((line) => line.closed).length;
    for (const line of lines) line.end();
    return { times: lines.length, happened: `${closed.toLocaleString("en")} made room, others got in` };
  },
};
