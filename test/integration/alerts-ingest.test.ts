import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { RuleEngine, RuleTrial } from "../../src/alerts/index.ts";
import { isMarked } from "../../src/alerts/kept.ts";
import { createMemoryBus } from "../../src/bus/memory.ts";
import { Ingest } from "../../src/ingest/ingest.ts";
import { ingestMetrics } from "../../src/ingest/metrics.ts";
import type { Alert } from "../../src/model/alert.ts";
import type { AlertRuleFields, AlertTrigger } from "../../src/model/alert-rule.ts";
import type { Fix, Report } from "../../src/model/effects.ts";
import { createLog, createMetrics, systemIds } from "../../src/observe/index.ts";
import type { Admitted } from "../../src/ports/intake.ts";
import { ruleFields } from "../contract/store/alert-values.ts";
import { deviceFields } from "../contract/store/harness.ts";
import { acts, packetsOf, storyBegins, storyOf, storyRules, storyZones, ways } from "../support/alert-stories.ts";
import { chance } from "../support/any-order.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { openStore } from "../support/store.ts";
import { compareNotices, compareRaised } from "../support/told-and-tried.ts";

const start = Date.UTC(2026, 5, 1, 10);
const minute = 60_000;
const mail = { to: "ops@example.org", language: null, timeZone: null, units: "metric" } as const;

/** Ingest with rules on a real store; time goes as the test says. */
class Lane {
  now = start;
  readonly directory = dataFolder();
  #store: Awaited<ReturnType<typeof openStore>> | undefined;
  #engine: RuleEngine | undefined;
  #ingest: Ingest | undefined;
  readonly #log = createLog("silent");

  static async open(context: TestContext): Promise<Lane> {
    const lane = new Lane();
    context.after(async () => {
      await lane.close();
      removeFolder(lane.directory);
    });
    await lane.start();
    await lane.store.accounts.create(
      { id: "test", name: "Test", timeZone: "Etc/UTC", licenses: 1000, language: "en" },
      start,
    );
    return lane;
  }

  async start(): Promise<void> {
    const log = this.#log;
    const clock = { now: () => this.now, monotonic: () => this.now };
    const bus = createMemoryBus((error) => assert.fail(String(error)));
    const metrics = createMetrics({ processMetrics: false });
    const store = await openStore(this.directory, log);
    const { alertRules, geofences, groups, accounts, devices, locations } = store;
    const sources = { alertRules, geofences, groups, accounts, devices, locations };
    const onDue = (due: Parameters<Ingest["ticks"]["due"]>[0]) => this.ingest.ticks.due(due);
    this.#engine = new RuleEngine({
      ...sources,
      bus,
      clock,
      ids: systemIds,
      log,
      metrics,
      graceMs: 0,
      noticesPerMinute: 1_000_000,
      onDue,
      onLate: (late) => this.ingest.reviews.due(late),
    });
    this.#ingest = new Ingest(
      { maxFutureMs: 600_000 },
      { store, bus, clock, log, metrics: ingestMetrics(metrics), engine: this.#engine },
    );
    this.#store = store;
    this.#engine.start();
  }

  async close(): Promise<void> {
    await this.#engine?.stop();
    await this.#ingest?.stop();
    await this.#store?.close();
  }

  async restart(): Promise<void> {
    await this.close();
    await this.start();
  }

  get store() {
    assert.ok(this.#store);
    return this.#store;
  }

  get ingest(): Ingest {
    assert.ok(this.#ingest);
    return this.#ingest;
  }

  async rule(trigger: AlertTrigger, changes: Partial<AlertRuleFields> = {}): Promise<void> {
    const [account] = await this.store.accounts.list();
    assert.ok(account);
    const fields: AlertRuleFields = { ...ruleFields(), name: trigger.type, ...changes, ...trigger };
    await this.store.alertRules.create(account.key, 1, systemIds.uuid(), fields, start);
  }

  async device(id: string): Promise<Admitted> {
    const [account] = await this.store.accounts.list();
    assert.ok(account);
    await this.store.devices.create(account.key, deviceFields({ id, name: id }), start);
    return this.admit(id);
  }

  async admit(id: string): Promise<Admitted> {
    const admission = await this.ingest.admit([id]);
    assert.ok(admission.status === "admitted");
    return admission;
  }

  send(device: Admitted, ...reports: readonly Report[]): Promise<string> {
    return new Promise((resolve) => this.ingest.submit(device, reports, this.now, resolve));
  }

  /** What a trial of a rule finds in all that is stored up to a moment. */
  async tried(device: Admitted, rule: AlertRuleFields, to: number): Promise<readonly Alert[]> {
    const clock = { now: () => this.now, monotonic: () => this.now };
    const { locations, geofences, accounts } = this.store;
    const trial = new RuleTrial({ locations, geofences, accounts, clock, ids: systemIds });
    const watched = { ...device, name: device.id, expires: null, odometerStart: 0 };
    const found: Alert[] = [];
    for await (const step of trial.run(rule, watched, { from: 0, to: this.now }))
      if (step.type === "alert" && step.alert.time <= to) found.push(step.alert);
    return found;
  }

  notices(device: Admitted) {
    return this.store.notices.list(device.key, { limit: 100_000 });
  }

  /** Until the rules have seen all late records of a device in their place. */
  async reviewed({ key }: Admitted): Promise<void> {
    for (;;) {
      const [state] = await this.store.locations.states([key]);
      if (!isMarked(state?.rules)) return;
      this.now += 1000;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async alerts(device: Admitted) {
    return this.store.alerts.list(device.key, { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 100_000 });
  }

  async told(device: Admitted): Promise<readonly string[]> {
    const offset = (time: number) => `${(time - start) / minute}`;
    return (await this.alerts(device)).map((one) => `${offset(one.time)} ${one.name}${one.late ? " late" : ""}`);
  }

  async locations(device: Admitted): Promise<readonly Record<string, unknown>[]> {
    let text = "";
    const range = { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1e6, account: 1, odometerStart: 0 };
    for await (const { json } of this.store.locations.history(device.key, range))
      text += `${text === "" ? "" : ","}${Buffer.from(json).toString()}`;
    return JSON.parse(`[${text}]`);
  }
}

function fix(at: number, speed: number, changes: Partial<Fix> = {}): Fix {
  const place = { valid: true, latitude: 4.6 + at / 10_000, longitude: -74.1 };
  return {
    type: "fix",
    time: start + at * minute,
    ...place,
    speed,
    alarms: [],
    readings: {},
    attributes: {},
    ...changes,
  };
}

test("a rule's alert, its notices and its location's fields are committed with the fix that caused them", async (context) => {
  const lane = await Lane.open(context);
  await lane.rule(
    { type: "speedOver", parameters: { kmh: 80 } },
    { critical: true, channels: { email: [mail, { ...mail, to: "two@example.org" }], sms: [], webhook: [] } },
  );
  const device = await lane.device("d");
  const other = await lane.device("e");
  assert.equal(await lane.send(device, fix(0, 50), fix(1, 92), fix(2, 95), fix(3, 60)), "stored");
  assert.equal(await lane.send(other, fix(1, 92)), "stored");

  const [alert, ...more] = await lane.alerts(device);
  assert.equal(alert?.text, "Speed 92 km/h over the limit of 80");
  assert.deepEqual(more, []);
  assert.deepEqual(await lane.alerts(other), []);
  const notices = await lane.store.notices.list(device.key, { limit: 10 });
  assert.deepEqual(
    notices.map(({ target, state, alertId }) => [target.channel, state, alertId]),
    [
      ["email", "queued", alert.id],
      ["email", "queued", alert.id],
    ],
  );
  assert.deepEqual(
    (await lane.locations(device)).map(({ alerts, alertTexts, hasCriticalAlert }) => [
      alerts,
      alertTexts,
      hasCriticalAlert,
    ]),
    [
      [[], [], false],
      [["speedOver"], ["Speed 92 km/h over the limit of 80"], true],
      [[], [], false],
      [[], [], false],
    ],
  );
});

test("a repeat, a restart and a late neighbour raise nothing again; a late episode that nobody saw is marked late", async (context) => {
  const lane = await Lane.open(context);
  lane.now = start + 50 * minute;
  await lane.rule({ type: "speedOver", parameters: { kmh: 80 } });
  let device = await lane.device("d");
  await lane.send(device, fix(0, 50), fix(10, 92), fix(20, 95));
  await lane.send(device, fix(10, 92));
  await lane.restart();
  device = await lane.admit("d");
  await lane.send(device, fix(10, 92), fix(30, 97));
  assert.deepEqual(await lane.told(device), ["10 speedOver"]);
  await lane.send(device, fix(15, 91), fix(9, 99));
  await lane.reviewed(device);
  assert.deepEqual(await lane.told(device), ["10 speedOver"]);
  await lane.send(device, fix(2, 40), fix(4, 90), fix(5, 91), fix(6, 40));
  // The mark is on disk with the records.
  await lane.restart();
  device = await lane.admit("d");
  await lane.send(device, fix(30, 97));
  await lane.reviewed(device);
  assert.deepEqual(await lane.told(device), ["4 speedOver late", "10 speedOver"]);
  await lane.send(device, fix(4, 90), fix(40, 30), fix(41, 90));
  assert.deepEqual(await lane.told(device), ["4 speedOver late", "10 speedOver", "41 speedOver"]);
});

test("what the tracker itself reports is a warning of the location, with or without a rule", async (context) => {
  const lane = await Lane.open(context);
  const device = await lane.device("d");
  await lane.send(device, fix(0, 0, { alarms: ["sos", "powerCut"] }));
  const [location] = await lane.locations(device);
  assert.deepEqual(location?.warnings, ["sos", "powerCut"]);
  assert.deepEqual(location?.warningTexts, ["SOS button pressed", "Disconnected from the vehicle's power"]);
  assert.deepEqual([location?.alerts, location?.hasCriticalAlert], [[], false]);
});

test("time alone raises an alert at its moment, once, also across a restart", async (context) => {
  const lane = await Lane.open(context);
  await lane.rule({ type: "offline", parameters: { minutes: 30 } });
  await lane.rule({ type: "notMoving", parameters: { minutes: 60 } });
  let device = await lane.device("d");
  await lane.send(device, fix(0, 0));
  lane.now = start + 29 * minute;
  await lane.restart();
  device = await lane.admit("d");
  lane.now = start + 31 * minute;
  await until(async () => (await lane.told(device)).length === 1);
  assert.deepEqual(await lane.told(device), ["30 offline"]);
  await lane.restart();
  device = await lane.admit("d");
  lane.now = start + 61 * minute;
  await until(async () => (await lane.told(device)).length === 2);
  assert.deepEqual(await lane.told(device), ["30 offline", "60 notMoving"]);
  lane.now = start + 62 * minute;
  await lane.send(device, fix(62, 50));
  lane.now = start + 93 * minute;
  await until(async () => (await lane.told(device)).length === 3);
  assert.deepEqual(await lane.told(device), ["30 offline", "60 notMoving", "92 offline"]);
});

test("however a story's fixes are cut into batches, and with restarts between, the same alerts are raised", async (context) => {
  const lane = await Lane.open(context);
  lane.now = start + 50 * minute;
  let round = 0;
  const story = fc.array(fc.tuple(fc.constantFrom(10, 70, 85, 120), fc.boolean()), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(story, fc.boolean(), async (steps, withRestart) => {
      const id = `story-${round++}`;
      const rule = { type: "speedOver", parameters: { kmh: 80 } } as const;
      await lane.rule(rule, { devices: [id, `${id}b`] });
      if (withRestart) await lane.restart();
      const one = await lane.device(id);
      const whole = await lane.device(`${id}b`);
      const fixes = steps.map(([speed], index) => fix(index, speed));
      let batch: Fix[] = [];
      for (const [index, next] of fixes.entries()) {
        batch.push(next);
        if (steps[index]?.[1]) {
          await lane.send(one, ...batch);
          batch = [];
        }
      }
      await lane.send(one, ...batch);
      await lane.send(whole, ...fixes);
      assert.deepEqual(await lane.told(one), await lane.told(whole));
    }),
    { numRuns: 15 },
  );
});

test("what was told of a story is what a trial tells of it, in whatever order it came, with restarts between", async (context) => {
  const lane = await Lane.open(context);
  lane.now = storyBegins + 30 * 86_400_000;
  const [account] = await lane.store.accounts.list();
  assert.ok(account);
  for (const [id, zone] of Object.entries(storyZones))
    await lane.store.geofences.create(account.key, id, { name: id, description: null, zone }, start);
  const scene = fc.record({ act: fc.constantFrom(...acts), reports: fc.integer({ min: 1, max: 40 }) });
  const cases = fc.record({
    scenes: fc.array(scene, { minLength: 3, maxLength: 10 }),
    seed: fc.integer(),
    way: fc.constantFrom(...ways),
  });
  let round = 0;
  await fc.assert(
    fc.asyncProperty(cases, async ({ scenes, seed, way }) => {
      const id = `told-${round++}`;
      for (const rule of storyRules)
        await lane.store.alertRules.create(account.key, 1, `${id}-${rule.key}`, { ...rule, devices: [id] }, start);
      // Rules that nobody told of are read again after a minute.
      await lane.restart();
      const random = chance(seed);
      const story = storyOf(scenes, random);
      let device = await lane.device(id);
      for (const packet of packetsOf(story, way, random)) {
        await lane.send(device, ...packet);
        if (random() < 0.1) await lane.reviewed(device);
        if (random() > 0.05) continue;
        await lane.restart();
        device = await lane.admit(id);
      }
      await lane.reviewed(device);
      // What time alone does after the last report depends on when it is looked.
      const to = story.at(-1)?.time ?? 0;
      const told = (await lane.alerts(device)).filter(({ time }) => time <= to);
      const noticed = new Set((await lane.notices(device)).map(({ alertId }) => alertId));
      for (const rule of storyRules) {
        const tried = await lane.tried(device, rule, to);
        const own = told.filter(({ name }) => name === rule.name);
        compareRaised(rule, own, tried);
        compareNotices(rule, own, tried, noticed);
      }
    }),
    { numRuns: 4, endOnFailure: true },
  );
});

/** Until it holds; the test's own time limit ends it otherwise. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
}
