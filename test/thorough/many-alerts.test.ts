import assert from "node:assert/strict";
import { test } from "node:test";
import type { Alert } from "../../src/model/alert.ts";
import type { AlertRule } from "../../src/model/alert-rule.ts";
import type { Fix } from "../../src/model/effects.ts";
import { AlertLane, type Arrival, ruleOf } from "../support/alert-lane.ts";

const start = Date.UTC(2026, 5, 1);
const options = { timeout: 60_000 };

/** In every other minute the alarm is on: an alarm that stays on is told once. */
function sos(minute: number, speed = 50): Arrival {
  const time = start + minute * 60_000;
  const report: Fix = {
    type: "fix",
    time,
    valid: true,
    latitude: 48,
    longitude: 11,
    speed,
    alarms: minute % 2 === 1 ? ["sos"] : [],
    readings: {},
    attributes: {},
  };
  return { report, receivedAt: start + 86_400_000 };
}

const webhook = Array.from({ length: 20 }, (_, index) => ({ url: `https://example.com/${index}`, secret: "" }));

/** Two thousand rules for the same alarm, of which the last alone is critical. */
function rules(): readonly AlertRule[] {
  return Array.from({ length: 2000 }, (_, index) =>
    ruleOf(
      { type: "sos", parameters: {}, channels: { email: [], sms: [], webhook }, critical: index === 1999 },
      index + 1,
    ),
  );
}

/** Alerts and notices of each report, and of each commit, stay within their bounds; what is left out is said. */
function assertBounded(lane: AlertLane, reports: number): void {
  for (let minute = 1; minute <= reports; minute += 2) {
    const alerts = lane.alerts.filter(({ time }) => time === start + minute * 60_000);
    const ids = new Set(alerts.map(({ id }) => id));
    assert.equal(alerts.length, 100);
    assert.equal(lane.notices.filter(({ alertId }) => ids.has(alertId)).length, 500);
    assert.ok(
      alerts.some(({ ruleId }) => ruleId === "rule-2000"),
      "the critical one is not left out",
    );
    assert.match(alerts.at(-1)?.text ?? "", /too many at a time: 1900 more alerts and 1500 notices are left out/);
  }
  for (const { alerts, notices } of lane.commits) assert.ok(alerts <= 600 && notices <= 2500, `${alerts}, ${notices}`);
}

test(
  "two thousand rules of twenty recipients: alerts and notices of a report and of a commit have an end",
  options,
  async () => {
    const lane = await new AlertLane(rules()).ready();
    lane.submit(Array.from({ length: 24 }, (_, index) => sos(index + 1)));
    assertBounded(lane, 24);
    assert.equal(lane.records.length, 24);
  },
);

test("the same for reports that come late", options, async () => {
  const lane = await new AlertLane(rules()).ready();
  lane.submit([sos(101)]);
  lane.submit(Array.from({ length: 24 }, (_, index) => sos(index + 1)));
  assertBounded(lane, 24);
  assert.equal(lane.records.length, 25);
});

test("what a review finds beyond one commit is what another review would find behind it", options, async () => {
  const lanes = [];
  for (const goesOn of [true, false]) {
    const lane = await new AlertLane(rules()).ready();
    lane.reviewsGoOn = goesOn;
    lane.submit([sos(101)]);
    lane.submit(Array.from({ length: 24 }, (_, index) => sos(index + 1)));
    const found = ({ ruleId, time, phase, text }: Alert) => `${ruleId} ${time} ${phase} ${text}`;
    lanes.push({ alerts: lane.alerts.map(found).sort(), notices: lane.notices.length, reviewed: lane.reviewed });
  }
  const [once, again] = lanes;
  assert.deepEqual([once?.alerts, once?.notices], [again?.alerts, again?.notices]);
  assert.ok(2 * (once?.reviewed ?? 0) < (again?.reviewed ?? 0), `${once?.reviewed} of ${again?.reviewed}`);
});

test("the notices of an account have an end each minute: the alert says what is left out", options, async () => {
  const rule = ruleOf({
    type: "sos",
    parameters: {},
    notifyWhenOver: false,
    channels: { email: [], sms: [], webhook },
  });
  const lane = await new AlertLane([rule], {}, {}, { noticesPerMinute: 30 }).ready();
  const told = () => lane.commits.map(({ notices }) => notices);
  // A minute from one report to the next, and all of them at one moment of ours.
  for (let minute = 1; minute <= 4; minute++) lane.submit([sos(minute)]);
  assert.deepEqual(told(), [20, 0, 10, 0]);
  assert.deepEqual(
    lane.alerts.map(({ text }) => /\(too many.*\)/.exec(text)?.[0]),
    [undefined, "(too many at a time: 0 more alerts and 10 notices are left out)"],
  );
  lane.now += 60_000;
  lane.submit([{ ...sos(5), receivedAt: lane.now }]);
  assert.equal(told().at(-1), 20);
});

/**
 * A rule of speed whose webhooks take all 20 notices of an account's minute, and one of the alarm that tells by e-mail.
 */
async function noisyLane(critical: boolean): Promise<AlertLane> {
  const recipient = { to: "one@example.test", language: null, timeZone: null, units: "metric" } as const;
  const fields = { notifyWhenOver: true, hysteresis: { holdSeconds: 0, rearmAt: null, cooldownSeconds: 0 } };
  const noisy = ruleOf(
    { type: "speedOver", parameters: { kmh: 80 }, ...fields, channels: { email: [], sms: [], webhook } },
    1,
  );
  const mails = ruleOf(
    { type: "sos", parameters: {}, ...fields, critical, channels: { email: [recipient], sms: [], webhook: [] } },
    2,
  );
  const lane = await new AlertLane([noisy, mails], {}, {}, { noticesPerMinute: 20 }).ready();
  lane.now = start + 86_400_000;
  lane.submit([sos(0, 200)]);
  assert.equal(lane.notices.length, 20);
  return lane;
}

const mailsOf = ({ notices }: AlertLane) =>
  notices.filter(({ target }) => target.channel === "email").map(({ state }) => state);

test(
  "an e-mail that is left out counts as none: the next one is sent, and not as a repeated one",
  options,
  async () => {
    const lane = await noisyLane(false);
    lane.submit([{ ...sos(1), receivedAt: lane.now }]);
    assert.deepEqual(mailsOf(lane), []);
    lane.submit([{ ...sos(2), receivedAt: lane.now }]);
    lane.now += 60_000;
    lane.submit([{ ...sos(3), receivedAt: lane.now }]);
    assert.deepEqual(mailsOf(lane), ["queued"]);
  },
);

test("a critical alert is told beyond what the account's other rules have used up", options, async () => {
  const lane = await noisyLane(true);
  lane.submit([{ ...sos(1), receivedAt: lane.now }]);
  assert.deepEqual(mailsOf(lane), ["queued"]);
});

test("a text of many placeholders has an end", options, async () => {
  const rule = ruleOf({ type: "sos", parameters: {}, text: "{{DeviceName}}".repeat(140) });
  const lane = await new AlertLane([rule], {}, { name: "n".repeat(256) }).ready();
  lane.submit([sos(1)]);
  const [alert] = lane.alerts;
  assert.ok(alert !== undefined && alert.text.length <= 4000 && alert.text.endsWith("..."), `${alert?.text.length}`);
});
