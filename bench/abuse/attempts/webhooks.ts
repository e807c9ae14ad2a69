import type { ServerResponse } from "node:http";
import { HttpPeer } from "../../../test/support/http-peer.ts";
import type { Attempt, Scene } from "../attempt.ts";
import { Line, patienceMs, report } from "../peers.ts";
import { many, wait } from "../tally.ts";

/** A webhook that behaves badly while a device raises alerts for it. */
function webhook(name: string, tries: string, answer: (response: ServerResponse) => void): Attempt {
  return {
    name,
    tries,
    holds: "the device is acknowledged; the webhook is called and nothing else is",
    // Loopback is private, and there is no other address that a test may call.
    settings: async () => ({ WAYBEAM_WEBHOOKS_ALLOW_PRIVATE: "on" }),
    async run(scene: Scene) {
      const { attacker, goesOn, scale, must } = scene;
      const peer = new HttpPeer();
      await peer.listen();
      peer.answer = answer;
      const ids = await scene.devices(scale(20, 3));
      const hooks = Array.from({ length: scale(20, 3) }, (_, index) => ({
        url: `http://127.0.0.1:${peer.port}/hook/${index}`,
        secret: "a secret of sixteen",
      }));
      const rule = {
        name: "Fast",
        type: "speedOver",
        parameters: { kmh: 1 },
        devices: ids,
        channels: { webhook: hooks },
      };
      await attacker.client.take("POST", "/api/alertRules", rule);
      scene.prepared();
      const start = Math.floor(Date.now() / 1000) - 600;
      let [sent, answered] = [0, 0];
      await many(
        ids.length,
        ids.length,
        () => true,
        async (device) => {
          const line = new Line(scene.devicePort);
          for (let index = 0; index < 4 || (goesOn() && index < scale(200, 4)); index++) {
            const fields = {
              timestamp: start + index,
              lat: 48 + index / 1000,
              lon: 11,
              speed: index % 2 === 0 ? 0 : 50,
            };
            const before = line.received;
            line.send(report(ids[device] ?? "", fields));
            sent++;
            if (await line.until(() => line.received > before, patienceMs)) answered++;
            await wait(20);
          }
          line.end();
        },
      );
      while (goesOn()) await wait(50);
      const patience = performance.now() + patienceMs;
      while (peer.seen.length === 0 && performance.now() < patience) await wait(50);
      must(answered === sent, `the device is acknowledged: ${answered} of ${sent}`);
      must(peer.seen.length > 0, "the webhook is called");
      must(
        peer.seen.every(({ url }) => url.startsWith("/hook/")),
        "nothing but the webhook is called",
      );
      const happened = `${answered} of ${sent} reports acknowledged, ${peer.seen.length} calls`;
      await peer.close();
      return { times: sent, happened };
    },
  };
}

/** Writes for ever, as fast as it is taken. */
function endless(response: ServerResponse): void {
  const piece = Buffer.alloc(65_536, "x");
  const more = () => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once("drain", more);
  };
  more();
}

export const silentWebhook = webhook("webhook-silent", "20 webhooks that never answer", () => {});
export const slowWebhook = webhook("webhook-slow", "20 webhooks that answer a byte a second", (response) => {
  response.writeHead(200, { "content-length": 1000 });
  const timer = setInterval(() => response.write("x"), 1000);
  response.on("close", () => clearInterval(timer));
});
export const endlessWebhook = webhook("webhook-endless", "20 webhooks that answer bytes without end", endless);
export const redirectingWebhook = webhook(
  "webhook-redirect",
  "20 webhooks that redirect to metadata services and to the service itself",
  (response) => {
    response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data/" }).end();
  },
);
