import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { RuleEngine, RuleTrial } from "../../src/alerts/index.ts";
import { createMemoryBus } from "../../src/bus/memory.ts";
import { Follower } from "../../src/follow/follower.ts";
import { FoldedHistories } from "../../src/history/histories.ts";
import { Ingest } from "../../src/ingest/ingest.ts";
import { ingestMetrics } from "../../src/ingest/metrics.ts";
import { type Alert, standingAlerts } from "../../src/model/alert.ts";
import type { AlertRuleFields, AlertTrigger } from "../../src/model/alert-rule.ts";
import type { Fix, Report } from "../../src/model/effects.ts";
import { createLog, createMetrics, systemIds } from "../../src/observe/index.ts";
import type { AlertEngine, AlertOutcome } from "../../src/ports/alert-engine.ts";
import type { Bus } from "../../src/ports/bus.ts";
import type { FollowStore } from "../../src/ports/follow.ts";
import type { Admitted } from "../../src/ports/intake.ts";
import type { PositionStore } from "../../src/ports/positions.ts";
import { ruleFields } from "../contract/store/alert-values.ts";
import { deviceFields } from "../contract/store/harness.ts";
import { dataFolder, removeFolder } from "./service.ts";
import { openStore } from "./store.ts";

/** When the time of a lane begins. */
export const start = Date.UTC(2026, 5, 1, 10);
export const minute = 60_000;
/** A recipient of e-mail. */
export const mail = { to: "ops@example.org", language: null, timeZone: null, units: "metric" } as const;

/** The way in, what follows from it, and rules, on a real store. The test sets the clock. */
export class RuleLane {
  now = start;
  readonly directory = dataFolder();
  #parts: Parts | undefined;
  readonly log = createLog("silent");

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
    const bus = createMemoryBus((error) => assert.fail(String(error)));
    const metrics = createMetrics({ processMetrics: false });
    const store = await openStore(this.directory, log);
    const engine = new RuleEngine({
      ...store,
      standings: (devices) => this.follower.standings(devices),
      bus,
      clock: { now: () => this.now, monotonic: () => this.now },
      ids: systemIds,
      log,
      metrics,
      graceMs,
      noticesPerMinute: 1_000_000,
      onDue: (devices) => this.follower.due(devices),
    });
    const clock = { now: () => this.now, monotonic: () => performance.now() };
    const counts = { found: 0, committed: 0 };
    const follower = new Follower({
      store: { ...store, follow: this.#counted(store.follow, counts), positions: this.#disturbed(store.positions) },
      engine: this.#watched(engine, counts),
      bus,
      clock,
      log,
      mostLagBytes: 1e9,
    });
    const ingest = new Ingest(
      { maxFutureMs: 600_000 },
      { store, bus, clock, log, metrics: ingestMetrics(metrics), engine, following: follower },
    );
    const histories = new FoldedHistories({ ...store, heads: follower });
    this.#parts = { store, bus, engine, follower, ingest, histories, counts };
    await follower.start();
    engine.start();
  }

  /** Counts what is committed. */
  #counted(follow: FollowStore, counts: Counts): FollowStore {
    return {
      heads: (devices) => follow.heads(devices),
      lateDevices: (...asked) => follow.lateDevices(...asked),
      days: (device, ask) => follow.days(device, ask),
      sumsBefore: (device, day) => follow.sumsBefore(device, day),
      daysBefore: (devices, before) => follow.daysBefore(devices, before),
      forgetDays: (device, before) => follow.forgetDays(device, before),
      commit: async (batch) => {
        await follow.commit(batch);
        for (const { alerts = [] } of batch) counts.committed += alerts.length;
      },
    };
  }

  #disturbed(positions: PositionStore): PositionStore {
    return {
      append: (batch) => positions.append(batch),
      unfollowed: (how) => positions.unfollowed(how),
      pending: (devices) => positions.pending(devices),
      left: (...asked) => positions.left(...asked),
      followed: (place) => positions.followed(place),
      read: async (device, range) => {
        const page = await positions.read(device, range);
        await this.disturb?.(device);
        return page;
      },
      readEach: (...asked) => positions.readEach(...asked),
      render: (...asked) => positions.render(...asked),
      deleteBefore: (device, moment) => positions.deleteBefore(device, moment),
      figures: () => positions.figures(),
      close: () => positions.close(),
    };
  }

  /** Counts what rules find. */
  #watched(engine: RuleEngine, counts: Counts): AlertEngine {
    const count = <T extends AlertOutcome | undefined>(outcome: T): T => {
      counts.found += outcome?.alerts.length ?? 0;
      return outcome;
    };
    return {
      prepare: (accounts) => engine.prepare(accounts),
      watches: (device) => engine.watches(device),
      watch: (device, standing, now) => {
        const watch = engine.watch(device, standing, now);
        const outcome = watch?.outcome.bind(watch);
        return watch && outcome && Object.assign(watch, { outcome: () => count(outcome()) });
      },
      review: (device, standing, from, now) => {
        const review = engine.review(device, standing, from, now);
        const outcome = review?.outcome.bind(review);
        return (
          review &&
          outcome &&
          Object.assign(review, { outcome: (...ask: Parameters<typeof outcome>) => count(outcome(...ask)) })
        );
      },
      followed: (device, standing, notices) => engine.followed(device, standing, notices),
      heard: (device, now) => engine.heard(device, now),
      sharesMoved: (gained) => engine.sharesMoved(gained),
    };
  }

  /** Called after each read of a device's late records and what follows them. */
  disturb: ((device: number) => Promise<void>) | undefined;

  async close(): Promise<void> {
    if (this.#parts === undefined) return;
    const { engine, ingest, follower, store } = this.#parts;
    this.#parts = undefined;
    await engine.stop();
    await ingest.stop();
    await follower.stop();
    await store.close();
  }

  async restart(graceMs = 0): Promise<void> {
    await this.close();
    await this.start(graceMs);
  }

  /** Starts again without what nobody had committed, as after a kill. */
  async crash(): Promise<void> {
    const { engine, ingest, store } = this.#open;
    this.#parts = undefined;
    await engine.stop();
    await ingest.stop();
    await store.close();
    await this.start();
  }

  get #open(): Parts {
    assert.ok(this.#parts);
    return this.#parts;
  }

  get store() {
    return this.#open.store;
  }

  get ingest(): Ingest {
    return this.#open.ingest;
  }

  get follower(): Follower {
    return this.#open.follower;
  }

  get bus(): Bus {
    return this.#open.bus;
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
    const { geofences, accounts } = this.store;
    const trial = new RuleTrial({ histories: this.#open.histories, geofences, accounts, clock, ids: systemIds });
    const watched = { ...device, name: device.id, expires: null, odometerStart: 0 };
    const found: Alert[] = [];
    for await (const step of trial.run(rule, watched, { from: 0, to: this.now }))
      if (step.type === "alert" && step.alert.time <= to) found.push(step.alert);
    return found;
  }

  /** Resolves when all that rules have found is committed. */
  async #committedAll({ key }: Admitted): Promise<void> {
    const { follower, counts } = this.#open;
    await follower.head(key);
    while (counts.committed < counts.found) await sleep(5);
  }

  async notices(device: Admitted) {
    await this.#committedAll(device);
    return this.store.notices.list(device.key, { limit: 100_000 });
  }

  /** Resolves when a device's late records were reviewed. */
  async reviewed(device: Admitted): Promise<void> {
    while (((await this.follower.head(device.key))?.late.length ?? 0) > 0) await sleep(20);
    await this.#committedAll(device);
  }

  async alerts(device: Admitted) {
    await this.#committedAll(device);
    return this.store.alerts.list(device.key, { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 100_000 });
  }

  /** Alerts that were not withdrawn. */
  async told(device: Admitted): Promise<readonly string[]> {
    const offset = (time: number) => `${(time - start) / minute}`;
    return standingAlerts(await this.alerts(device)).map(
      (one) => `${offset(one.time)} ${one.name}${one.late ? " late" : ""}`,
    );
  }

  async locations(device: Admitted): Promise<readonly Record<string, unknown>[]> {
    await this.#committedAll(device);
    let text = "";
    const range = { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 1e6, account: 1, odometerStart: 0 };
    for await (const { json } of this.#open.histories.history(device.key, range))
      text += `${text === "" ? "" : ","}${Buffer.from(json).toString()}`;
    return JSON.parse(`[${text}]`);
  }
}

/** Alerts that rules found in one life, and those of them that were committed. */
interface Counts {
  found: number;
  committed: number;
}

interface Parts {
  readonly store: Awaited<ReturnType<typeof openStore>>;
  readonly bus: Bus;
  readonly engine: RuleEngine;
  readonly follower: Follower;
  readonly ingest: Ingest;
  readonly histories: FoldedHistories;
  readonly counts: Counts;
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
