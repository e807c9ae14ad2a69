import type { Attempt } from "../attempt.ts";
import { Line, patienceMs, report } from "../peers.ts";

const reports = 100;

/** Reports over HTTP that do not wait for each other's answer. */
export const pipelinedReports: Attempt = {
  name: "pipelined-reports",
  tries: `${reports} reports over HTTP in one piece, on many connections`,
  holds: "each report is answered",
  async run({ devices, devicePort, goesOn, scale, must }) {
    const ids = await devices(scale(50, 3));
    const start = Math.floor(Date.now() / 1000) - 86_400;
    let times = 0;
    let answered = 0;
    for (const id of ids) {
      if (!goesOn()) break;
      const line = new Line(devicePort);
      const one = (index: number) => report(id, { timestamp: start + index, lat: 48 + index / 1000, lon: 11 });
      let count = 0;
      line.socket.on("data", (chunk: Buffer) => {
        count += chunk.toString("latin1").split("HTTP/1.1 200").length - 1;
      });
      line.send(Array.from({ length: reports }, (_, index) => one(index)).join(""));
      await line.until(() => count >= reports, patienceMs);
      times++;
      answered += count;
      line.end();
    }
    must(answered === times * reports, `each report is answered: ${answered} of ${times * reports}`);
    return { times, happened: `${answered.toLocaleString("en")} reports answered` };
  },
};
