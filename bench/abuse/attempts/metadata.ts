import type { Attempt } from "../attempt.ts";
import { Line, report } from "../peers.ts";
import { many, Tally, wait } from "../tally.ts";

/** Addresses of clouds' metadata services, and texts that come to the same. */
const urls = [
  "http://169.254.169.254/latest/meta-data/",
  "http://[fd00:ec2::254]/latest/",
  "http://metadata.google.internal/computeMetadata/v1/",
  "http://100.100.100.200/latest/meta-data/",
  "http://168.63.129.16/metadata",
  "http://192.0.0.192/opc/v2/",
  "http://2852039166/",
  "http://0xa9fea9fe/",
  "http://[::ffff:169.254.169.254]/",
  "http://127.0.0.1:8080/api/devices",
  "file:///etc/passwd",
];

/** Webhooks that are to read what only the machine itself may read. */
export const metadata: Attempt = {
  name: "webhook-metadata",
  tries: "webhooks at the metadata services of clouds, in every way of writing them",
  holds: "rules with them are refused, or nothing is called",
  async run(scene) {
    const { attacker, goesOn, devices, must } = scene;
    const [id = ""] = await devices(1);
    const statuses = new Tally();
    await many(urls.length, 4, goesOn, async (index) => {
      const channels = { webhook: [{ url: urls[index], secret: "a secret of sixteen" }] };
      const rule = { name: `M${index}`, type: "speedOver", parameters: { kmh: 1 }, devices: [id], channels };
      statuses.add((await attacker.client.ask("POST", "/api/alertRules", rule)).status);
    });
    must(statuses.besides(201, 400).length === 0, `rules are made or refused: ${statuses}`);
    const line = new Line(scene.devicePort);
    const time = Math.floor(Date.now() / 1000) - 60;
    for (const [at, speed] of [0, 50].entries())
      line.send(report(id, { timestamp: time + at, lat: 48 + at, lon: 11, speed }));
    do await wait(50);
    while (goesOn());
    line.end();
    const { notifications } = await attacker.client.take("GET", `/api/devices/${id}/notifications`);
    const states = new Tally();
    for (const notice of Array.isArray(notifications) ? notifications : [])
      states.add(String(Reflect.get(Object(notice), "state")));
    must(states.of("sent") === 0, `nothing is called: ${states}`);
    return { times: statuses.total, happened: `rules ${statuses}; notices ${states}` };
  },
};
