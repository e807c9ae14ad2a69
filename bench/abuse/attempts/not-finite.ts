import { protocolById } from "../../../src/protocols/index.ts";
import { numberedReport } from "../../../test/support/acked-tracker.ts";
import type { Attempt, Scene } from "../attempt.ts";
import { Datagrams, Line, report } from "../peers.ts";
import { wait } from "../tally.ts";

const values = ["Infinity", "-Infinity", "NaN", "1e999", "-1e999", "1e308", "0x7fffffff", "9".repeat(400)];
const fields = [
  "speed",
  "batt",
  "altitude",
  "bearing",
  "fuel",
  "temperature",
  "odometer",
  "hdop",
  "timestamp",
  "lat",
  "own",
];

/** What JSON can't hold, by HTTP: each value in each parameter, in a form and in JSON. */
function overHttp(id: string, time: number): string[] {
  const good = { timestamp: time, lat: 48, lon: 11 };
  const forms = values.flatMap((value) => fields.map((field) => report(id, { ...good, [field]: value })));
  const jsons = ["1e999", "-1e999", "NaN"].map((value) => {
    const coords = `{"latitude":48,"longitude":11,"speed":${value},"heading":${value}}`;
    const body = `{"device_id":"${id}","location":{"timestamp":"${new Date(time * 1000).toISOString()}","coords":${coords},"battery":{"level":${value}}}}`;
    return `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  });
  return [...forms, ...jsons];
}

/** The number texts of H02's sentences, each replaced by each value. */
function overH02(id: string, time: number): Uint8Array[] {
  const simulate = protocolById("h02")?.simulate;
  if (simulate === undefined) throw new Error("h02 has no simulator");
  const sentence = Buffer.from(simulate.report(id, [numberedReport(time * 1000, 1)], 1)).toString("latin1");
  const parts = sentence.slice(0, -1).split(",");
  return values.flatMap((value) =>
    parts.flatMap((part, at) =>
      at > 2 && /^[\d.]+$/.test(part)
        ? [Buffer.from(`${parts.with(at, value).join(",")},FUEL:${value},${value}#`)]
        : [],
    ),
  );
}

/** GT06: a text of readings whose values are no numbers, in messages with right checksums. */
function overGt06(id: string, time: number): Uint8Array[] {
  const simulate = protocolById("gt06")?.simulate;
  if (simulate?.login === undefined) throw new Error("gt06 has no simulator");
  return [simulate.login(id, 1), simulate.report(id, [numberedReport(time * 1000, 1)], 2)];
}

/** Whether all that is told of a device is JSON. */
async function readable({ attacker, must }: Scene, id: string): Promise<void> {
  const range = { from: "2000-01-01T00:00:00Z", to: "2099-12-31T00:00:00Z" };
  for (const [method, path, body] of [
    ["GET", `/api/devices/${id}/lastLocation`],
    ["POST", `/api/devices/${id}/locations`, range],
    ["POST", `/api/devices/${id}/readings`, range],
  ] as const) {
    const { status, text } = await attacker.client.ask(method, path, body);
    let json = true;
    try {
      JSON.parse(text);
    } catch {
      json = false;
    }
    must(json && status < 500, `${path.split("/").at(-1)} is JSON: ${status} ${text.slice(0, 80)}`);
  }
}

/** Infinity and its like in every protocol that is there. */
export const notFinite: Attempt = {
  name: "not-finite",
  tries: "Infinity, NaN, 1e999 and their like as every number that a message tells, in every protocol with texts",
  holds: "all that is told of the devices is JSON",
  async run(scene) {
    const [http = "", h02 = "", gt06 = ""] = await scene.devices(3);
    const time = Math.floor(Date.now() / 1000) - 3600;
    const requests = overHttp(http, time);
    for (const request of requests) {
      const line = new Line(scene.devicePort);
      line.send(request);
      await line.until(() => line.received > 0, 5000);
      line.end();
    }
    const datagrams = overH02(h02, time);
    const peer = await Datagrams.open(scene.devicePort);
    for (const bytes of datagrams) {
      await peer.send(bytes);
      await wait(1);
    }
    const line = new Line(scene.devicePort);
    const messages = overGt06(gt06, time);
    for (const bytes of messages) line.send(bytes);
    await line.until(() => line.received > 10, 2000);
    await wait(200);
    for (const id of [http, h02, gt06]) await readable(scene, id);
    peer.end();
    line.end();
    return {
      times: requests.length + datagrams.length + messages.length,
      happened: "histories and last locations are JSON",
    };
  },
};
