import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { commitAlerts, newAlert, newNotice } from "../contract/store/alert-values.ts";
import { endRest, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;
let owner: string;
const token = `123456789:${"a".repeat(35)}`;
const slack = { url: "https://hooks.slack.example/services/T0/B0/key", format: "slack" };

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000 } });
  owner = await rest.ownerToken();
  assert.equal((await rest.call("POST", "/api/devices", { token: owner, body: { id: "d" } })).status, 201);
});
after(() => endRest(rest));

const make = (channels: object, method = "POST", path = "/api/alertRules") =>
  rest.call(method, path, {
    token: owner,
    body: { name: "Speed", type: "speedOver", parameters: { kmh: 80 }, devices: ["d"], channels },
  });

test("a rule shows its chats and formats, and keeps the tokens that it does not show", async () => {
  const template = '{"content":"{{DeviceName}}: {{Text}}"}';
  const webhook = [slack, { url: "https://discord.example/hook", format: "template", template }];
  const made = await make({ webhook, telegram: [{ chat: "-100123", token, language: "es" }] });
  assert.equal(made.status, 201, made.body);
  assert.deepEqual(made.json.channels.webhook, [
    { ...slack, secret: null },
    { ...webhook[1], secret: null },
  ]);
  const [shown] = made.json.channels.telegram;
  assert.deepEqual(shown, { chat: "-100123", token: null, language: "es", timeZone: null, units: "metric" });
  const path = `/api/alertRules/${made.json.id}`;
  const operations = [{ op: "replace", path: "/name", value: "Other" }];
  const patched = await rest.call("PATCH", path, { token: owner, body: operations });
  assert.equal(patched.status, 200, patched.body);
  const stored = await rest.store.alertRules.find(made.json.id);
  assert.deepEqual(
    stored?.channels.webhook.map(({ url, secret }) => [url, secret]),
    [
      [slack.url, ""],
      ["https://discord.example/hook", ""],
      ["telegram:-100123", token],
    ],
  );
  assert.equal(JSON.stringify(patched.json).includes(token), false);
});

test("what is another channel's, or makes no sense, is refused with the reason", async () => {
  const template = (text: string, more: object = {}) => ({
    webhook: [{ url: "https://example.com/hook", format: "template", template: text, ...more }],
  });
  for (const [channels, problem] of [
    [template('{"text":"{text} to {to}"}'), /template: \{text\} is a placeholder of the SMS gateway/],
    [template('{"text":"{{Phone}}"}'), /there is no placeholder \{\{Phone\}\}/],
    [template('{"speed":{{Speed}}}'), /must be JSON, with its placeholders inside strings/],
    [template('"{{Text}}"'), /must be a JSON object or list/],
    [template('{"a":1}', { format: "slack" }), /template: goes with the format template/],
    [{ webhook: [{ url: "https://example.com/hook", format: "template" }] }, /template: is required/],
    [{ webhook: [{ url: "https://example.com/hook" }] }, /secret: is required for a new URL/],
    [{ telegram: [{ chat: "-1" }] }, /token: is required for a new chat/],
    [
      {
        telegram: [
          { chat: "-1", token },
          { chat: "-1", token },
        ],
      },
      /must not have the same recipient twice/,
    ],
    [{ telegram: [{ chat: "-1", token: "12:short" }] }, /token/],
    [{ telegram: [{ chat: "a/b", token }] }, /chat/],
    [template(`{"a":"${"x".repeat(8000)}"}`), /template: must not have more than 8000 characters/],
  ] as const) {
    const { status, json } = await make(channels);
    assert.equal(status, 400, JSON.stringify(channels).slice(0, 100));
    assert.match(json.details.join("\n"), problem);
  }
});

test("a notice names its chat, and of a URL that is a key the origin alone", async () => {
  const made = await make({ webhook: [slack], telegram: [{ chat: "@fleet", token }] });
  const device = (await rest.store.devices.find("d"))?.key ?? 0;
  const rule = await rest.store.alertRules.find(made.json.id);
  const alert = newAlert(device, 1, { ruleKey: rule?.key ?? 0, ruleId: made.json.id });
  const notices = (rule?.channels.webhook ?? []).map((target) =>
    newNotice(alert, { target: { channel: "webhook", ...target } }),
  );
  await commitAlerts(rest.store, device, [alert], notices);
  const { json } = await rest.call("GET", "/api/devices/d/notifications", { token: owner });
  assert.deepEqual(
    json.notifications.map(({ channel, recipient }: Record<string, unknown>) => [channel, recipient]),
    [
      ["Telegram", "telegram:@fleet"],
      ["Webhook", "https://hooks.slack.example"],
    ],
  );
  assert.equal(JSON.stringify(json).includes(token), false);
});
