import { RuleEngine, RuleTrial, type TrialDeps } from "../../src/alerts/index.ts";
import { createMemoryBus } from "../../src/bus/memory.ts";
import { type Draft, draftOf } from "../../src/ingest/draft.ts";
import { ordered } from "../../src/ingest/pending.ts";
import { type Plan, planAppend, planLate } from "../../src/ingest/plan.ts";
import type { Alert, AlertEnd } from "../../src/model/alert.ts";
import type { AlertParameters, AlertRule, AlertRuleFields, AlertType } from "../../src/model/alert-rule.ts";
import { unsetCaps } from "../../src/model/caps.ts";
import type { Report } from "../../src/model/effects.ts";
import type { Geofence, Zone } from "../../src/model/geofence.ts";
import {
  byPlace,
  type DeviceState,
  type LocationRecord,
  neverReported,
  placeBefore,
  type RecordPlace,
  shiftedTotals,
  withTotals,
} from "../../src/model/location.ts";
import type { NewNotice } from "../../src/model/notice.ts";
import type { AlertOutcome, ToldAlert, Watch, WatchedDevice } from "../../src/ports/alert-engine.ts";
import type { Metrics } from "../../src/ports/metrics.ts";
import { silentLog } from "./silent-log.ts";

/** A report and when it arrived. */
export interface Arrival {
  readonly report: Report;
  readonly receivedAt: number;
}

const quietMetrics: Metrics = {
  counter: () => () => ({ add: () => {} }),
  histogram: () => () => ({ observe: () => {} }),
  gauge: () => {},
};

const closed = { state: "closed", endedAt: null } as const;

/** A rule with what a test does not say as it usually is. */
export function ruleOf(
  fields: {
    readonly type: AlertType;
    readonly parameters: AlertParameters[AlertType];
  } & Partial<Omit<AlertRuleFields, "type" | "parameters">>,
  key = 1,
): AlertRule {
  const rule: unknown = {
    key,
    id: `rule-${key}`,
    accountKey: 1,
    revision: 1,
    userKey: 1,
    creation: 0,
    modification: 0,
    name: `Rule ${key}`,
    enabled: true,
    devices: ["device"],
    groups: [],
    schedule: null,
    conditions: [],
    hysteresis: { holdSeconds: 0, rearmAt: null, cooldownSeconds: 0 },
    channels: { email: [], sms: [], webhook: [] },
    commands: [],
    critical: false,
    text: null,
    notifyWhenOver: true,
    notifyOnlyWhenOver: false,
    ...fields,
  };
  assertRule(rule);
  return rule;
}

/** The fields come in two halves that only the caller knows to belong together. */
function assertRule(rule: unknown): asserts rule is AlertRule {
  if (typeof rule !== "object" || rule === null || !("parameters" in rule)) throw new Error("no rule");
}

/** One device with its history, its state and the real rules, fed through ingest's own plans; only the store is in memory. */
export class AlertLane {
  readonly bus = createMemoryBus(() => {});
  readonly engine: RuleEngine;
  readonly alerts: Alert[] = [];
  readonly notices: NewNotice[] = [];
  /** The states of the raised alerts. */
  readonly handling = new Map<Alert, ToldAlert["handling"]>();
  /** Names of the rules whose alerts stand at a location, by its time. */
  readonly atLocations: [number, string][] = [];
  readonly due: WatchedDevice[] = [];
  /** How many alerts and notices each commit had. */
  readonly commits: { readonly alerts: number; readonly notices: number }[] = [];
  readonly device: WatchedDevice;
  /** A review follows each commit that has late records. */
  reviewsAtOnce = true;
  state: DeviceState = neverReported;
  records: LocationRecord[] = [];
  now = 0;
  #ids = 0;
  readonly #uuids = { uuid: () => `id-${++this.#ids}`, secret: () => "" };
  readonly #sources: Pick<TrialDeps, "geofences" | "accounts">;

  constructor(
    rules: readonly AlertRule[],
    zones: Readonly<Record<string, Zone>> = {},
    device: Partial<WatchedDevice> = {},
    { timeZone = "UTC", noticesPerMinute = 1_000_000 } = {},
  ) {
    this.device = { key: 1, accountKey: 1, id: "device", name: "Device", expires: null, odometerStart: 0, ...device };
    const account = {
      key: 1,
      id: "account",
      name: "",
      timeZone,
      licenses: 1,
      language: "en",
      creation: 0,
      caps: unsetCaps,
      positionDays: null,
    } as const;
    this.#sources = {
      geofences: { some: async () => Object.entries(zones).map(([id, zone], key) => geofenceOf(id, zone, key)) },
      accounts: { find: async () => account },
    };
    this.engine = new RuleEngine({
      ...this.#sources,
      alertRules: { list: async () => [...rules], accounts: async () => [1] },
      groups: { some: async () => [] },
      devices: { list: async () => [] },
      locations: { states: async () => [] },
      bus: this.bus,
      clock: { now: () => this.now, monotonic: () => this.now },
      ids: this.#uuids,
      log: silentLog,
      metrics: quietMetrics,
      graceMs: 60_000,
      noticesPerMinute,
      onDue: (devices) => this.due.push(...devices),
      onLate: () => {},
    });
  }

  async ready(): Promise<this> {
    await this.engine.prepare([1]);
    return this;
  }

  /** Trials over the history so far. */
  trial(now: number): RuleTrial {
    const { geofences, accounts } = this.#sources;
    return new RuleTrial({
      geofences,
      accounts,
      locations: {
        context: async (_, place, limit) => {
          const { from, ...context } = this.#around(place);
          return { ...context, from: from.slice(0, limit), more: from.length > limit };
        },
      },
      clock: { now: () => now, monotonic: () => now },
      ids: this.#uuids,
    });
  }

  /** One commit of what arrived. */
  submit(arrivals: readonly Arrival[]): void {
    const drafts = ordered(
      arrivals.map(({ report, receivedAt }) => draftOf(report, report.time ?? receivedAt, receivedAt, true)),
    );
    this.now = Math.max(this.now, ...arrivals.map(({ receivedAt }) => receivedAt));
    for (let left: readonly Draft[] = drafts; left.length > 0; ) left = this.#submitSome(left);
    if (this.reviewsAtOnce) this.review();
  }

  /** The rules see late records in their place, as a review would have them. */
  review(): void {
    for (;;) {
      const review = this.engine.review(this.device, this.state);
      if (review === undefined) return;
      const { before, from } = this.#around(review.after);
      review.begin(before);
      review.take(from, this.now);
      const told = this.alerts
        .filter(({ time }) => time >= review.toldFrom)
        .map((alert) => ({ ...alert, handling: this.#handlingOf(alert) }))
        .sort((one, other) => one.time - other.time);
      const outcome = review.outcome(this.state, told, this.now);
      if (outcome === undefined) throw new Error("nothing came meanwhile");
      this.#found(outcome);
      if (outcome.isWhole) return;
    }
  }

  #handlingOf(alert: Alert) {
    return this.handling.get(alert) ?? closed;
  }

  #tell(alerts: readonly Alert[], notices: readonly NewNotice[], ended: readonly AlertEnd[]): void {
    this.commits.push({ alerts: alerts.length, notices: notices.length });
    this.alerts.push(...alerts);
    this.notices.push(...notices);
    for (const alert of alerts)
      if (alert.phase === "raised") this.handling.set(alert, { state: "open", endedAt: null });
    for (const { ruleKey, time, withdrawn } of ended)
      for (const [alert, { state, endedAt }] of this.handling) {
        if (state === "closed" || alert.ruleKey !== ruleKey) continue;
        if (alert.id === withdrawn) this.handling.set(alert, { state: "closed", endedAt });
        else if (withdrawn === undefined && alert.time <= time && endedAt === null)
          this.handling.set(alert, { state: alert.critical ? "open" : "closed", endedAt: time });
      }
  }

  #around(place: RecordPlace) {
    const before = this.records.findLast((record) => byPlace(record, place) <= 0);
    return {
      ...(before !== undefined && { before }),
      from: this.records.filter((record) => byPlace(record, place) > 0),
    };
  }

  /** Gives what one commit does not hold. */
  #submitSome(drafts: readonly Draft[]): readonly Draft[] {
    const [first] = drafts;
    if (first === undefined) return [];
    const watch = this.engine.watch(this.device, this.state, this.now);
    if (first.time >= this.state.time) {
      const stored = new Set(this.records.map(({ time, hash }) => `${time}/${hash}`));
      const fresh = drafts.filter(({ time, hash }) => !stored.has(`${time}/${hash}`));
      if (fresh.length === 0) return [];
      const { plan, leftover } = planAppend(this.state, fresh, watch);
      this.#commit(plan, watch);
      return leftover;
    }
    const context = { ...this.#around(placeBefore(first.time)), more: false };
    const late = planLate(this.state, context, drafts, true, watch);
    if (late === "more context") throw new Error("it has all of the history");
    if (late.plan !== undefined) this.#commit(late.plan, watch);
    return late.leftover;
  }

  /** Time alone: as a timer would. */
  tick(now: number): void {
    this.now = Math.max(this.now, now);
    const watch = this.engine.watch(this.device, this.state, now);
    watch?.tick();
    const outcome = watch?.outcome();
    if (outcome !== undefined) this.#found(outcome);
  }

  #found({ rules, alerts, notices, ended = [] }: AlertOutcome): void {
    this.#tell(alerts, notices, ended);
    const { rules: _, ...rest } = this.state;
    this.state = { ...rest, version: rest.version + 1, ...(rules !== undefined && { rules }) };
    this.engine.committed(this.device, this.state, notices.length);
  }

  #commit(plan: Plan, watch: Watch | undefined): void {
    for (const record of plan.records) {
      const named = /"alerts":\[("[^\]]*")\]/.exec(record.alerts ?? "")?.[1];
      if (named !== undefined) this.atLocations.push([record.time, named]);
    }
    const patched = new Map(plan.patches.map((patch) => [`${patch.time}/${patch.hash}`, patch.totals]));
    let shifted: readonly LocationRecord[] = this.records;
    for (const shift of plan.shifts ?? []) {
      const after = { time: shift.afterTime, arrival: shift.afterArrival };
      shifted = shifted.map((record) =>
        byPlace(record, after) > 0 ? { ...record, totals: shiftedTotals(record.totals, shift) } : record,
      );
    }
    this.records = [...shifted, ...plan.records]
      .map((record) => withTotals(record, patched.get(`${record.time}/${record.hash}`) ?? record.totals))
      .sort(byPlace);
    this.#tell(plan.alerts ?? [], plan.notices ?? [], plan.ended ?? []);
    this.state = plan.state;
    if (watch !== undefined) this.engine.committed(this.device, this.state, plan.notices?.length ?? 0);
  }
}

function geofenceOf(id: string, zone: Zone, key: number): Geofence {
  return { key, id, accountKey: 1, name: id, description: null, zone, creation: 0, modification: 0 };
}
