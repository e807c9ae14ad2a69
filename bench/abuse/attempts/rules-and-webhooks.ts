import type { Attempt } from "../attempt.ts";
import { packet, Tracker } from "../peers.ts";
import { many, Tally } from "../tally.ts";

const rules = 2000;
const webhooks = 20;

/** One fix that is to become 40,000 notices. */
export const rulesAndWebhooks: Attempt = {
  name: "rules-and-webhooks",
  tries: `${rules.toLocaleString("en")} rules with ${webhooks} webhooks each on one device`,
  holds: "rules beyond the quota are refused with 409; the device is acknowledged",
  async run(scene) {
    const { attacker, goesOn, must } = scene;
    const [id = ""] = await scene.devices(1);
    const statuses = new Tally();
    const webhook = Array.from({ length: webhooks }, (_, index) => ({
      url: `https://example.com/hook/${index}`,
      secret: "a secret of sixteen",
    }));
    const rule = { type: "speedOver", parameters: { kmh: 1 }, devices: [id], channels: { webhook } };
    await many(scene.scale(rules, 60), 16, goesOn, async (index) => {
      statuses.add((await attacker.client.ask("POST", "/api/alertRules", { ...rule, name: `R${index}` })).status);
    });
    must(statuses.besides(201, 409, 429).length === 0, `rules are made or refused: ${statuses}`);
    const tracker = await Tracker.login(scene, id);
    const reports = scene.scale(20, 2);
    for (let sent = 1; sent <= reports; sent++) {
      tracker.line.send(packet(1, Date.now() - 60_000 + sent * 1000, sent * 50));
      await tracker.answeredAll(sent);
    }
    must(tracker.answered === reports, `the device is acknowledged: ${tracker.answered} of ${reports}`);
    tracker.line.end();
    return { times: statuses.total, happened: `rules ${statuses}; ${tracker.answered} reports acknowledged` };
  },
};
