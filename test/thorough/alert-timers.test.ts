import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { AlertRule } from "../../src/model/alert-rule.ts";
import { AlertLane, type Arrival, ruleOf } from "../support/alert-lane.ts";

const start = Date.parse("2026-11-16T08:00:00Z");
const minute = 60_000;

/** A report, `at` minutes after the start, of a vehicle that stands. */
function stands(at: number): Arrival {
  const time = start + at * minute;
  const place = { valid: true, latitude: 10, longitude: 10, speed: 0 } as const;
  return { report: { type: "fix", time, ...place, alarms: [], readings: {}, attributes: {} }, receivedAt: time };
}

describe("whether a rule may look at a device's next report", () => {
  const speeding = (device: string, key = 1) =>
    ruleOf({ type: "speedOver", parameters: { kmh: 80 }, devices: [device] }, key);

  it("is true until the rules are read again after a change", async () => {
    const rules: AlertRule[] = [];
    const lane = await new AlertLane(rules).ready();
    assert.equal(lane.engine.watches({ ...lane.device, accountKey: 2 }), true, "an account that is not known yet");
    assert.equal(lane.engine.watches(lane.device), false);
    const changed = async (...now: AlertRule[]) => {
      rules.splice(0, rules.length, ...now);
      lane.bus.publish({ type: "rulesChanged", accountKey: 1 });
      assert.equal(lane.engine.watches(lane.device), true);
      await lane.engine.prepare([1]);
    };
    await changed(speeding("device"));
    assert.equal(lane.engine.watches(lane.device), true);
    await changed(speeding("other", 2));
    assert.equal(lane.engine.watches(lane.device), false);
  });
});

describe("timers", () => {
  /** A lane whose engine runs, and how time passes for it. */
  async function running(context: TestContext) {
    context.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
    const lane = await new AlertLane([ruleOf({ type: "notMoving", parameters: { minutes: 5 } })]).ready();
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 1000) {
        lane.now += 1000;
        context.mock.timers.tick(1000);
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
    };
    lane.now = start;
    lane.engine.start();
    await pass(3000);
    return { lane, pass };
  }

  it("of a deleted device end", async (context) => {
    const { lane, pass } = await running(context);
    lane.submit([stands(1)]);
    await pass(2000);
    // The lane's store knows no device.
    const { key, accountKey, id } = lane.device;
    lane.bus.publish({ type: "deviceChanged", accountKey, key, id });
    await pass(10 * minute);
    assert.deepEqual(lane.due, []);
    await lane.engine.stop();
  });

  it("are in time even if a look shortly before found nothing", async (context) => {
    const { lane, pass } = await running(context);
    lane.submit([stands(1)]);
    await pass(5 * minute - 5000);
    lane.tick(lane.now);
    assert.deepEqual([lane.alerts, lane.due], [[], []]);
    await pass(7000);
    assert.deepEqual(lane.due, [lane.device]);
    await lane.engine.stop();
  });
});
