import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { AlertRule, AlertRuleFields } from "../../src/model/alert-rule.ts";
import type { Fix, Report } from "../../src/model/effects.ts";
import { AlertLane, type Arrival, ruleOf } from "../support/alert-lane.ts";

const start = Date.parse("2026-11-16T08:00:00Z");
const minute = 60_000;
const people = {
  email: [{ to: "one@example.test", language: null, timeZone: null, units: "metric" }],
  sms: [{ to: "+15550100", language: null, timeZone: null, units: "metric" }],
  webhook: [{ url: "https://example.test/hook", secret: "0123456789abcdef" }],
} as const;
const cut = { command: "cut", format: "Text", sms: false, encode: true, delaySeconds: 30 } as const;

/** A fix, `at` minutes after the start, with a speed. `arrives`: the minute of its arrival. */
function fix(at: number, speed: number, arrives = at): Arrival {
  const report: Report = {
    type: "fix",
    time: start + at * minute,
    valid: true,
    latitude: 10,
    longitude: 10,
    speed,
    alarms: [],
    readings: {},
    attributes: {},
  };
  return { report, receivedAt: start + arrives * minute };
}

function speeding(fields: Partial<Omit<AlertRuleFields, "type" | "parameters">> = {}, key = 1) {
  return ruleOf({ type: "speedOver", parameters: { kmh: 80 }, notifyWhenOver: false, ...fields }, key);
}

/** `channel state` of the notices. */
function told(lane: AlertLane): readonly string[] {
  return lane.notices.map(({ target, state }) => `${target.channel} ${state}`);
}

describe("a report of the same moment as the newest one, in a message of its own", () => {
  function alarm(at: number): Arrival {
    const { report, receivedAt } = fix(at, 0);
    return { report: { ...report, alarms: ["sos"] }, receivedAt };
  }

  it("is not late, and what it tells is not told again by the next", async () => {
    const lane = await new AlertLane([ruleOf({ type: "sos", parameters: {}, commands: [cut] })]).ready();
    lane.submit([fix(0, 0)]);
    lane.submit([alarm(0)]);
    lane.submit([alarm(0.2)]);
    assert.deepEqual(
      lane.alerts.map(({ time, late }) => [(time - start) / minute, late]),
      [[0, false]],
    );
    assert.deepEqual(told(lane), ["command queued"]);
  });

  it("counts no mileage twice, in whatever order such reports are kept", async () => {
    const rule = ruleOf({ type: "mileage", parameters: { km: 1, repeat: true } });
    const place = ({ report, receivedAt }: Arrival, latitude: number, attributes = {}): Arrival => ({
      report: { ...report, ...(report.type === "fix" && { latitude }), attributes },
      receivedAt,
    });
    for (let variant = 0; variant < 8; variant++) {
      const lane = await new AlertLane([rule]).ready();
      lane.submit([place(fix(0, 50), 10)]);
      lane.submit([place(fix(2, 50), 10.0089)]);
      lane.submit([place(fix(4, 50), 10.0091)]);
      lane.submit([place(fix(4, 50), 10.0091, { message: String(variant) })]);
      lane.submit([place(fix(6, 50), 10.0093)]);
      assert.equal(lane.alerts.length, 1);
    }
  });
});

describe("notices", () => {
  it("are written for each recipient and command, in the alert's own outcome", async () => {
    const lane = await new AlertLane([speeding({ channels: people, commands: [cut] })]).ready();
    lane.submit([fix(0, 90)]);
    assert.deepEqual(told(lane), ["command queued", "email queued", "sms queued", "webhook queued"]);
    assert.deepEqual(
      lane.notices.map(({ dueAt }) => dueAt - start),
      [30_000, 0, 0, 0],
    );
    assert.equal(new Set([...lane.notices, ...lane.alerts].map(({ id }) => id)).size, 5);
    assert.ok(lane.notices.every(({ alertId }) => alertId === lane.alerts[0]?.id));
  });

  it("are made for every alert; the outbox decides how often a recipient is told the same thing", async () => {
    const lane = await new AlertLane([speeding({ channels: { ...people, sms: [], webhook: [] } })]).ready();
    for (let at = 0; at < 3; at++) lane.submit([fix(at, 90), fix(at + 0.5, 50)]);
    assert.deepEqual(
      lane.notices.map(({ state, reason }) => [state, reason]),
      Array(3).fill(["queued", null]),
    );
  });

  it("tell when it is over where that is wanted, and only then where only that is", async () => {
    const quiet = { ...people, email: [], webhook: [] };
    const both = await new AlertLane([speeding({ channels: quiet, notifyWhenOver: true })]).ready();
    const only = await new AlertLane([speeding({ channels: quiet, notifyOnlyWhenOver: true })]).ready();
    const never = await new AlertLane([speeding({ channels: quiet })]).ready();
    for (const lane of [both, only, never]) {
      lane.submit([fix(0, 90)]);
      lane.submit([fix(3, 70)]);
    }
    assert.deepEqual(
      [both, only, never].map(({ alerts }) => alerts.map(({ phase }) => phase)),
      [["raised", "over"], ["raised", "over"], ["raised"]],
    );
    const phases = (lane: AlertLane) =>
      lane.notices.map(({ alertId }) => lane.alerts.find(({ id }) => id === alertId)?.phase);
    assert.deepEqual([both, only, never].map(phases), [["raised", "over"], ["over"], ["raised"]]);
  });

  it("a command goes out where the report has just arrived, whatever the tracker's clock says within an hour", async () => {
    for (const [at, arrives] of [
      [0, 0],
      [0, 55],
      [55, 0],
    ] as const) {
      const lane = await new AlertLane([speeding({ commands: [cut] })]).ready();
      lane.submit([fix(at, 90, arrives)]);
      assert.deepEqual(told(lane), ["command queued"], `${at} ${arrives}`);
    }
    for (const [at, arrives, why] of [
      [0, 61, /more than an hour from its arrival/],
      [61, 0, /more than an hour from its arrival/],
    ] as const) {
      const lane = await new AlertLane([speeding({ commands: [cut] })]).ready();
      lane.submit([fix(at, 90, arrives)]);
      assert.match(String(lane.notices[0]?.reason), why);
    }
    const waited = await new AlertLane([speeding({ commands: [cut] })]).ready();
    // It arrived with one that came to be stored ten minutes later.
    waited.submit([fix(0, 90, 1), fix(11, 50, 11)]);
    assert.match(String(waited.notices[0]?.reason), /arrived more than 5 minutes ago/);
  });

  it("a command of a report that arrived a second out of order goes out", async () => {
    const lane = await new AlertLane([ruleOf({ type: "sos", parameters: {}, commands: [cut] })]).ready();
    const { report, receivedAt } = fix(10, 50);
    lane.submit([fix(0, 50), fix(10 + 1 / 60, 50)]);
    lane.submit([{ report: { ...report, alarms: ["sos"] }, receivedAt }]);
    assert.deepEqual(told(lane), ["command queued"]);
  });

  it("a command that comes too late is not sent, but recorded; people are told", async () => {
    const lane = await new AlertLane([speeding({ channels: people, commands: [cut] })]).ready();
    lane.submit([fix(0, 90, 61), fix(30, 50, 61)]);
    lane.submit([fix(70, 50)]);
    lane.submit([fix(65, 95, 70.5)]);
    assert.deepEqual(
      lane.alerts.map(({ late }) => late),
      [false, true],
    );
    const commands = lane.notices.filter(({ target }) => target.channel === "command");
    assert.deepEqual(
      commands.map(({ state }) => state),
      ["suppressed", "suppressed"],
    );
    assert.equal(told(lane).filter((one) => one === "sms queued").length, 2);
  });
});

describe("a zone that is gone", () => {
  const port = { kind: "circle", center: [10, 10], radius: 1 } as const;
  const near = (at: number, latitude: number): Arrival => {
    const { report, receivedAt } = fix(at, 30);
    return { report: report.type === "fix" ? { ...report, latitude } : report, receivedAt };
  };
  const phases = (lane: AlertLane) =>
    lane.alerts.map(({ phase, facts }) => `${phase} ${facts.zone} ${facts.event ?? ""}`.trim());

  it("leaves a rule watching the others", async () => {
    const zones = ["gone", "port"];
    const rules = [
      ruleOf({ type: "forbiddenZone", parameters: { zones } }, 1),
      ruleOf({ type: "allowedZone", parameters: { zones } }, 2),
      ruleOf({ type: "controlZone", parameters: { zones } }, 3),
      ruleOf({ type: "controlPoint", parameters: { zones, minutes: 0 } }, 4),
    ];
    const lane = await new AlertLane(rules, { port }).ready();
    lane.submit([near(0, 10.1)]);
    lane.submit([near(10, 10)]);
    assert.deepEqual(phases(lane), [
      "raised port",
      "raised port",
      "over port",
      "raised port entered",
      "raised port entered",
    ]);
  });

  it("ends a rule that has no other, or a condition on it", async () => {
    const rules = [
      ruleOf({ type: "forbiddenZone", parameters: { zones: ["gone"] } }, 1),
      ruleOf(
        { type: "forbiddenZone", parameters: { zones: ["port"] }, conditions: [{ zone: "gone", operator: "outside" }] },
        2,
      ),
    ];
    const lane = await new AlertLane(rules, { port }).ready();
    lane.submit([near(0, 10.1), near(10, 10)]);
    assert.deepEqual(lane.alerts, []);
  });
});

describe("an alert", () => {
  it("stands at its location with its name and text, the rule's own where it has one", async () => {
    const lane = await new AlertLane([speeding({ name: "Fast", text: "{{DeviceName}}: {{AlertText}}" })]).ready();
    lane.submit([fix(0, 50), fix(1, 92)]);
    assert.deepEqual(
      lane.alerts.map(({ text }) => text),
      ["Device: Speed 92 km/h over the limit of 80"],
    );
    assert.deepEqual(lane.atLocations, [[start + minute, '"Fast"']]);
  });

  /** The alerts at the second of two speeding fixes, between which the rules change. */
  async function afterChange(before: readonly AlertRule[], after: readonly AlertRule[]) {
    const first = await new AlertLane(before).ready();
    first.submit([fix(0, 90)]);
    const second = await new AlertLane(after).ready();
    second.standing = first.standing;
    second.submit([fix(1, 91)]);
    return second;
  }

  it("of a rule that judges something else now is judged anew; one that did not change goes on", async () => {
    const conditions = [{ attribute: "speed", operator: "greater", value: 10 }] as const;
    const schedule = { days: ["monday"], from: "00:00", to: "00:00", timeZone: null } as const;
    const hysteresis = { holdSeconds: 0, rearmAt: 75, cooldownSeconds: 0 };
    const parts = [{ parameters: { kmh: 85 } }, { conditions }, { schedule }, { hysteresis }];
    for (const part of parts) {
      const changed: AlertRule = { ...ruleOf({ ...speeding({}, 2), ...part }, 2), revision: 2 };
      const { alerts } = await afterChange([speeding(), speeding({}, 2)], [speeding(), changed]);
      assert.deepEqual(
        alerts.map(({ ruleKey }) => ruleKey),
        [2],
        JSON.stringify(part),
      );
    }
  });

  it("goes on if only the rule's name, text or recipients changed", async () => {
    const fields = { name: "Fast", critical: true, text: "{{AlertText}}", channels: people, notifyWhenOver: true };
    const changed = { ...speeding({ ...fields, commands: [cut], devices: ["other", "device"] }), revision: 2 };
    const lane = await afterChange([speeding({ channels: people })], [changed]);
    assert.deepEqual([lane.alerts, lane.notices], [[], []]);
    lane.submit([fix(1.2, 50)]);
    lane.submit([fix(1.5, 90)]);
    assert.deepEqual(
      lane.alerts.map(({ phase, name }) => [phase, name]),
      [
        ["over", "Fast"],
        ["raised", "Fast"],
      ],
    );
  });

  it("is raised anew where the rule rested meanwhile, also where no other rule watched", async () => {
    for (const others of [[], [speeding({}, 2)]]) {
      const resting = await afterChange([speeding(), ...others], [speeding({ enabled: false }), ...others]);
      const lane = await new AlertLane([{ ...speeding(), revision: 3 }, ...others]).ready();
      lane.standing = resting.standing;
      lane.submit([fix(2, 92)]);
      assert.deepEqual(
        lane.alerts.map(({ ruleKey }) => ruleKey),
        [1],
      );
    }
  });

  it("ends without a word where the schedule ends, and is raised again when it begins, once each day, by time alone", async () => {
    const schedule = { days: ["monday", "tuesday", "wednesday"], from: "09:00", to: "10:00", timeZone: null } as const;
    const lane = await new AlertLane([speeding({ schedule, notifyWhenOver: true })]).ready();
    lane.submit([fix(0, 90)]);
    for (let hour = 0; hour < 72; hour += 0.5) lane.tick(start + hour * 60 * minute);
    lane.submit([fix(72 * 60, 90)]);
    assert.deepEqual(
      lane.alerts.map(({ time, phase }) => `${phase} ${new Date(time).toISOString().slice(8, 16)}`),
      ["raised 16T09:00", "raised 17T09:00", "raised 18T09:00"],
    );
  });
});

const byNumber = (one: number, other: number) => one - other;

describe("late fixes", () => {
  /** A report, at a minute, with more than a position. */
  function saying(at: number, said: Partial<Pick<Fix, "alarms" | "readings">>, arrives = at): Arrival {
    const { report, receivedAt } = fix(at, 50, arrives);
    return { report: { ...report, ...said }, receivedAt };
  }

  it("raise nothing that stands raised since before them, though their neighbours do not speak of it", async () => {
    const lane = await new AlertLane([ruleOf({ type: "powerDisconnected", parameters: {} })]).ready();
    lane.submit([
      saying(0, { readings: { powerConnected: true } }),
      saying(1, { readings: { powerConnected: false } }),
    ]);
    for (const at of [2, 3, 4]) lane.submit([saying(at, {})]);
    lane.submit([saying(3.5, { readings: { powerConnected: false } }, 5)]);
    assert.equal(lane.alerts.length, 1);
  });

  it("begin what lasts until now: the next report does not begin it again, and its end is told", async () => {
    const lane = await new AlertLane([ruleOf({ type: "powerDisconnected", parameters: {} })]).ready();
    lane.submit([saying(0, { readings: { powerConnected: true } }), saying(1, {})]);
    lane.submit([saying(0.9, { readings: { powerConnected: false } }, 1.1)]);
    lane.submit([saying(2, { readings: { powerConnected: false } })]);
    lane.submit([saying(3, { readings: { powerConnected: true } })]);
    assert.deepEqual(
      lane.alerts.map(({ phase, late }) => [phase, late]),
      [
        ["raised", true],
        ["over", false],
      ],
    );
  });

  it("with an alarm that goes on in the next report are told once", async () => {
    const lane = await new AlertLane([ruleOf({ type: "sos", parameters: {} })]).ready();
    lane.submit([saying(0, {}), saying(1, {})]);
    lane.submit([saying(0.95, { alarms: ["sos"] }, 1.1)]);
    lane.submit([saying(1.2, { alarms: ["sos"] })]);
    assert.equal(lane.alerts.length, 1);
  });

  it("in any order, repeated and in any batches, stand for the stretches that there are in the end, and people are told of each at most once", async () => {
    const story = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.boolean()), {
      selector: ([at]) => at,
      minLength: 1,
      maxLength: 16,
    });
    await fc.assert(
      fc.asyncProperty(story, fc.infiniteStream(fc.nat()), async (fixes, random) => {
        const numbers = random[Symbol.iterator]();
        const next = (below: number) => Number(numbers.next().value) % below;
        const lane = await new AlertLane([speeding({ channels: { ...people, sms: [], webhook: [] } })]).ready();
        const deliveries = [...fixes, ...fixes.slice(0, next(fixes.length))]
          .map((one) => ({ one, order: next(1000) }))
          .sort((left, right) => left.order - right.order);
        for (let at = 0; at < deliveries.length; ) {
          const batch = deliveries.slice(at, at + 1 + next(4));
          at += batch.length;
          lane.submit(batch.map(({ one: [time, fast] }) => fix(time, fast ? 90 : 50, 100)));
        }
        const ordered = fixes.toSorted(([left], [right]) => left - right);
        const firsts = ordered.filter(([, fast], index) => fast && ordered[index - 1]?.[1] !== true);
        const standing = new Map<number, number>();
        for (const { time, phase } of lane.alerts)
          standing.set(time, (standing.get(time) ?? 0) + (phase === "withdrawn" ? -1 : 1));
        assert.deepEqual(
          [...standing].flatMap(([time, count]) => Array<number>(count).fill((time - start) / minute)).sort(byNumber),
          firsts.map(([at]) => at),
        );
        const told = new Map<number, number>();
        for (const { alertId } of lane.notices) {
          const { time = 0 } = lane.alerts.find(({ id }) => id === alertId) ?? {};
          const first = firsts.findLast(([at]) => start + at * minute <= time)?.[0] ?? 0;
          told.set(first, (told.get(first) ?? 0) + 1);
        }
        for (const count of told.values()) assert.equal(count, 1);
        if (firsts.length > 0) assert.ok(told.size > 0);
      }),
    );
  });
});
