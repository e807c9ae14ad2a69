import type { Attempt } from "../attempt.ts";
import { Line, patienceMs, report } from "../peers.ts";
import { many, Tally } from "../tally.ts";

const placeholder = "{{DeviceName}} ";

/** Own texts of rules that one report fills in all at once. */
export const longTexts: Attempt = {
  name: "long-texts",
  tries:
    "hundreds of rules with the longest text of placeholders on a device with the longest name, raised again and again",
  holds: "the device is acknowledged; rules beyond the quota are refused with 409",
  async run({ attacker, devicePort, goesOn, prepared, scale, must }) {
    const id = `texts-${Date.now()}`;
    await attacker.client.take("POST", "/api/devices", { id, name: "x".repeat(256) });
    const statuses = new Tally();
    const text = placeholder.repeat(Math.floor(2000 / placeholder.length));
    const rule = { type: "speedOver", parameters: { kmh: 1 }, devices: [id], text };
    await many(scale(600, 20), 16, goesOn, async (index) => {
      statuses.add((await attacker.client.ask("POST", "/api/alertRules", { ...rule, name: `R${index}` })).status);
    });
    must(statuses.besides(201, 409, 429).length === 0, `rules are made or refused: ${statuses}`);
    const line = new Line(devicePort);
    let answered = 0;
    line.socket.on("data", (chunk: Buffer) => {
      answered += chunk.toString("latin1").split("HTTP/1.1 200").length - 1;
    });
    let sent = 0;
    prepared();
    const start = Math.floor(Date.now() / 1000) - 3600;
    // At least twice: the first is what the others are compared with.
    while (sent < 4 || (goesOn() && sent < scale(400, 4))) {
      line.send(
        report(id, { timestamp: start + sent, lat: 48 + sent / 1000, lon: 11, speed: sent % 2 === 0 ? 0 : 50 }),
      );
      sent++;
      if (!(await line.until(() => answered >= sent, patienceMs))) break;
    }
    must(answered === sent, `the device is acknowledged: ${answered} of ${sent}`);
    line.end();
    return { times: sent, happened: `rules ${statuses}; ${answered} of ${sent} reports acknowledged` };
  },
};
