import { once } from "node:events";
import { createServer } from "node:net";
import type { Attempt } from "../attempt.ts";
import { Line, patienceMs, report } from "../peers.ts";
import { wait } from "../tally.ts";

/** A mail server that takes every connection and says nothing. */
let calls = 0;
async function hangingServer(): Promise<number> {
  const server = createServer((socket) => {
    calls++;
    socket.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  // It stays until the run is over, and does not keep it from ending.
  server.unref();
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Alerts by e-mail while the mail server hangs. */
export const mailHangs: Attempt = {
  name: "mail-hangs",
  tries: "hundreds of alerts by e-mail while the mail server takes connections and says nothing",
  holds: "the device is acknowledged",
  settings: async () => ({
    WAYBEAM_MAIL_HOST: "127.0.0.1",
    WAYBEAM_MAIL_PORT: String(await hangingServer()),
    WAYBEAM_MAIL_SECURITY: "opportunistic",
    WAYBEAM_MAIL_FROM: "alerts@example.org",
  }),
  async run(scene) {
    const { attacker, goesOn, scale, must } = scene;
    const [id = ""] = await scene.devices(1);
    const email = [{ to: attacker.userName }];
    const rule = { name: "Fast", type: "speedOver", parameters: { kmh: 1 }, devices: [id], channels: { email } };
    for (let index = 0; index < scale(50, 3); index++)
      await attacker.client.take("POST", "/api/alertRules", { ...rule, name: `Fast ${index}` });
    scene.prepared();
    const line = new Line(scene.devicePort);
    const start = Math.floor(Date.now() / 1000) - 600;
    let [sent, answered] = [0, 0];
    while (sent < 4 || (goesOn() && sent < scale(400, 4))) {
      const before = line.received;
      line.send(
        report(id, { timestamp: start + sent, lat: 48 + sent / 1000, lon: 11, speed: sent % 2 === 0 ? 0 : 50 }),
      );
      sent++;
      if (await line.until(() => line.received > before, patienceMs)) answered++;
      await wait(5);
    }
    while (goesOn()) await wait(50);
    must(answered === sent, `the device is acknowledged: ${answered} of ${sent}`);
    line.end();
    return {
      times: sent,
      happened: `${answered} of ${sent} reports acknowledged, ${calls} connections to the mail server`,
    };
  },
};
