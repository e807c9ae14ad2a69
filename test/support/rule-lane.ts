import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { RuleEngine, RuleTrial } from "../../src/alerts/index.ts";
import { isMarked } from "../../src/alerts/kept.ts";
import { createMemoryBus } from "../../src/bus/memory.ts";
import { Ingest } from "../../src/ingest/ingest.ts";
import { ingestMetrics } from "../../src/ingest/metrics.ts";
import type { Alert } from "../../src/model/alert.ts";
import type { AlertRuleFields, AlertTrigger } from "../../src/model/alert-rule.ts";
import type { Fix, Report } from "../../src/model/effects.ts";
import { createLog, createMetrics, systemIds } from "../../src/observe/index.ts";
import type { Bus } from "../../src/ports/bus.ts";
import type { Admitted } from "../../src/ports/intake.ts";
import { ruleFields } from "../contract/store/alert-values.ts";
import { deviceFields } from "../contract/store/harness.ts";
import { dataFolder, removeFolder } from "./service.ts";
import { openStore } from "./store.ts";

/** When the time of a lane begins. */
export const start = Date.UTC(2026, 5, 1, 10);
export const minute = 60_000;
/** A recipient of e-mail. */
export const mail = { to: "ops@example.org", language: null, timeZone: null, units: "metric" } as const;

/** Ingest with rules on a real store. The test sets the clock. */
export class RuleLane {
  now = start;
  readonly directory = dataFolder();
  #store: Awaited<ReturnType<typeof openStore>> | undefined;
  #engine: RuleEngine | undefined;
  #bus: Bus | undefined;
  #ingest: Ingest | undefined;
  readonly log = createLog("silent");
  #metrics: ReturnType<typeof createMetrics> | undefined;

  static async open(context: TestContext): Promise<RuleLane> {
    const lane = new RuleLane();
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

  /** `graceMs`: for so long after the start, time alone makes nothing true. */
  async start(graceMs = 0): Promise<void> {
    const { log } = this;
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
      graceMs,
      noticesPerMinute: 1_000_000,
      onDue,
      onLate: (late) => this.ingest.reviews.due(late),
    });
    this.#ingest = new Ingest(
      { maxFutureMs: 600_000 },
      { store, bus, clock, log, metrics: ingestMetrics(metrics), engine: this.#engine },
    );
    this.#store = store;
    this.#bus = bus;
    this.#metrics = metrics;
    this.#engine.start();
  }

  async close(): Promise<void> {
    await this.#engine?.stop();
    await this.#ingest?.stop();
    await this.#store?.close();
  }

  async restart(graceMs = 0): Promise<void> {
    await this.close();
    await this.start(graceMs);
  }

  get store() {
    assert.ok(this.#store);
    return this.#store;
  }

  get ingest(): Ingest {
    assert.ok(this.#ingest);
    return this.#ingest;
  }

  get engine(): RuleEngine {
    assert.ok(this.#engine);
    return this.#engine;
  }

  get bus(): Bus {
    assert.ok(this.#bus);
    return this.#bus;
  }

  /** How many devices wait for a review. */
  async waitingReviews(): Promise<number> {
    const text = await this.#metrics?.text();
    return Number(/^waybeam_alert_reviews (\d+)/m.exec(text ?? "")?.[1]);
  }

  /** Tells the service that rules in the store have changed. */
  rulesChanged(): void {
    this.bus.publish({ type: "rulesChanged", accountKey: 1 });
  }

  async deleteRules(): Promise<void> {
    for (const { key } of await this.store.alertRules.list(1)) await this.store.alertRules.remove(key);
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

  /** The alerts that a trial of a rule finds up to a time. */
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

  /** Resolves when the reviews of a device's late records are done. */
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

/** A report, `at` minutes after the start. */
export function fix(at: number, speed: number, changes: Partial<Fix> = {}): Fix {
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
