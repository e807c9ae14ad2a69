import { RuleEngine, RuleTrial, type TrialDeps } from "../../src/alerts/index.ts";
import { createMemoryBus } from "../../src/bus/memory.ts";
import { stepOf } from "../../src/fold/step.ts";
import { advance, differOnlyInSums } from "../../src/fold/totals.ts";
import { freshRecordOf } from "../../src/ingest/fresh-record.ts";
import type { Alert, AlertEnd } from "../../src/model/alert.ts";
import type { AlertParameters, AlertRule, AlertRuleFields, AlertType } from "../../src/model/alert-rule.ts";
import { unsetCaps } from "../../src/model/caps.ts";
import type { Report } from "../../src/model/effects.ts";
import type { Geofence, Zone } from "../../src/model/geofence.ts";
import {
  type LocationRecord,
  noTotals,
  shiftedTotals,
  type Totals,
  type TotalsSums,
} from "../../src/model/location.ts";
import type { NewNotice } from "../../src/model/notice.ts";
import { observationOf } from "../../src/model/observation.ts";
import type { Standing } from "../../src/model/standing.ts";
import type { AlertOutcome, Review, ReviewStart, ToldAlert, WatchedDevice } from "../../src/ports/alert-engine.ts";
import type { FreshRecord } from "../../src/ports/follow.ts";
import type { Metrics } from "../../src/ports/metrics.ts";
import { Alone } from "../../src/store/sqlite/alone.ts";
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
  total: () => {},
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

/** Where the fold stood once, with what its rules were. */
interface LanePoint {
  readonly time: number;
  readonly totals: Totals;
  readonly rules: string | undefined;
}

/** A report as ingest appends it. */
function recordOf({ report, receivedAt }: Arrival): FreshRecord {
  return freshRecordOf(report, report.time ?? receivedAt, receivedAt, true);
}

/**
 * One device with its history and the real rules, followed as plainly as can be: newer records at once, late ones by a
 * review from the last point before them.
 */
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
  /** What one commit does not hold follows at once; otherwise it is reviewed again, as after a failure. */
  reviewsGoOn = true;
  /** Records from one point to the next. */
  spacing = 16;
  /** A review goes over so many points, and then gives others their turn. */
  pointsOfTurn = Number.POSITIVE_INFINITY;
  standing: Standing = { time: 0, totals: noTotals };
  records: FreshRecord[] = [];
  /** Records that reviews went over. */
  reviewed = 0;
  now = 0;
  #points: LanePoint[] = [];
  #late: { readonly from: number; readonly to: number } | undefined;
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
      standings: async () => [],
      processes: new Alone(),
      bus: this.bus,
      clock: { now: () => this.now, monotonic: () => this.now },
      ids: this.#uuids,
      log: silentLog,
      metrics: quietMetrics,
      graceMs: 60_000,
      noticesPerMinute,
      onDue: (devices) => this.due.push(...devices),
    });
  }

  async ready(): Promise<this> {
    await this.engine.prepare([1]);
    return this;
  }

  /** Trials over the history so far. */
  trial(now: number): RuleTrial {
    const { geofences, accounts } = this.#sources;
    const { history } = this;
    return new RuleTrial({
      geofences,
      accounts,
      histories: {
        async *records(_, { from, to }) {
          const all = history.filter(({ time }) => time >= from && time <= to);
          for (let at = 0; at < all.length; at += 100) yield all.slice(at, at + 100);
        },
        lastBefore: async (_, moment) => history.findLast(({ time }) => time <= moment),
      },
      clock: { now: () => now, monotonic: () => now },
      ids: this.#uuids,
    });
  }

  /** The records with their totals, by the plain fold. */
  get history(): readonly LocationRecord[] {
    let totals = noTotals;
    let before: number | undefined;
    return this.records.map((record) => {
      totals = advance(totals, before, stepOf(record));
      before = record.time;
      const { time, receivedAt, key, valid, latitude, longitude, speed, course, extras, unlocated } = record;
      const said = { time, receivedAt, key, valid, latitude, longitude, extras, totals };
      const motion = { ...(speed !== undefined && { speed }), ...(course !== undefined && { course }) };
      return { ...said, ...motion, ...(unlocated && { unlocated }) };
    });
  }

  /** What the records alone made of the rules. */
  get settled(): string | undefined {
    return this.engine.watch(this.device, this.standing, this.now)?.settled();
  }

  /** The same by the plain fold of all records. */
  get settledAnew(): string | undefined {
    const start = {
      time: undefined,
      totals: noTotals,
      rules: undefined,
      late: { from: 0, to: 0 },
      keptFrom: undefined,
    };
    const fold = this.engine.review(this.device, this.standing, start, this.now);
    for (const record of this.history) fold?.observe(observationOf(record), record.totals);
    return fold?.settled();
  }

  /** One append of what arrived. */
  submit(arrivals: readonly Arrival[]): void {
    this.now = Math.max(this.now, ...arrivals.map(({ receivedAt }) => receivedAt));
    const newer: FreshRecord[] = [];
    for (const record of arrivals.map(recordOf).toSorted((one, other) => one.time - other.time)) {
      if (this.records.some(({ time, key }) => time === record.time && key === record.key)) continue;
      const at = this.records.findLastIndex(({ time }) => time <= record.time) + 1;
      if (at === this.records.length) newer.push(record);
      else {
        this.#isLate(record.time, record.time);
        this.engine.heard(this.device.key, this.now);
      }
      this.records.splice(at, 0, record);
    }
    for (let left: readonly FreshRecord[] = newer; left.length > 0; ) left = this.#followSome(left);
    if (this.reviewsAtOnce) this.review();
  }

  #isLate(from: number, to: number): void {
    this.#late = { from: Math.min(this.#late?.from ?? from, from), to: Math.max(this.#late?.to ?? to, to) };
  }

  /** Gives what one commit does not hold. */
  #followSome(records: readonly FreshRecord[]): readonly FreshRecord[] {
    const watch = this.engine.watch(this.device, this.standing, this.now);
    let { time, totals } = this.standing;
    let receivedAt: number | undefined;
    let count = 0;
    for (const record of records) {
      if (watch?.full) break;
      if (time > 0 && record.time > time) this.#makePoint({ time, totals, rules: watch?.settled() });
      totals = advance(totals, time === 0 ? undefined : time, stepOf(record));
      ({ time, receivedAt } = record);
      for (const { name } of watch?.observe(record, totals)?.alerts ?? [])
        this.atLocations.push([record.time, JSON.stringify(name)]);
      count++;
    }
    this.standing = { ...this.standing, time, totals, ...(receivedAt !== undefined && { receivedAt }) };
    if (watch?.late !== undefined) this.#isLate(watch.late.from, watch.late.to);
    this.#commit(watch?.outcome());
    return records.slice(count);
  }

  #makePoint(point: LanePoint): void {
    const last = this.#points.at(-1)?.time ?? 0;
    const since = this.records.filter(({ time }) => time > last && time <= point.time).length;
    if (point.time > last && since >= this.spacing) this.#points.push(point);
  }

  /** The rules see late records in their place, as reviews would have them. */
  review(): void {
    for (let late = this.#late; late !== undefined; late = this.#late) {
      const begins = late.from;
      const { time, totals = noTotals, rules } = this.#points.findLast((point) => point.time < begins) ?? {};
      const start = { time, totals, rules, late, keptFrom: undefined };
      const review = this.engine.review(this.device, this.standing, start, this.now);
      const before = { points: this.#points, standing: this.standing };
      const { until, left } = this.#foldAgain(start, review);
      this.#late = left;
      if (review === undefined) continue;
      const told = this.alerts
        .filter((alert) => alert.time >= review.toldFrom)
        .map((alert) => ({ ...alert, handling: this.handling.get(alert) ?? closed }))
        .sort((one, other) => one.time - other.time);
      let outcome = review.outcome(before.standing, told, this.now, until);
      for (; this.reviewsGoOn && outcome.more !== undefined; outcome = outcome.more(this.now)) this.#commit(outcome);
      if (outcome.more !== undefined) {
        this.#late = late;
        this.#points = before.points;
        this.standing = before.standing;
      }
      this.#commit(outcome);
    }
  }

  /** Folds the records behind a point again. Where that ended, and what is late still. */
  #foldAgain(
    start: ReviewStart,
    review: Review | undefined,
  ): { readonly until?: number; readonly left?: ReviewStart["late"] } {
    let { time = 0, totals } = start;
    const behind = this.#points.filter((point) => point.time > time);
    const made = this.#points.filter((point) => point.time <= time);
    const ends = behind[this.pointsOfTurn];
    for (const record of this.records.filter((one) => one.time > (start.time ?? 0))) {
      const kept = record.time > time ? behind.find((point) => point.time === time) : undefined;
      if (kept !== undefined) {
        const isMet =
          time > start.late.to && differOnlyInSums(totals, kept.totals) && review?.meets(kept.rules) !== false;
        made.push({ time, totals, rules: isMet ? kept.rules : review?.settled() });
        if (isMet || kept === ends) {
          const more = difference(totals, kept.totals);
          const rest = behind.filter((point) => point.time > time);
          this.#points = [...made, ...rest.map((one) => ({ ...one, totals: shiftedTotals(one.totals, more) }))];
          this.standing = { ...this.standing, totals: shiftedTotals(this.standing.totals, more) };
          if (isMet) return { until: time + 1 };
          return { until: record.time, left: { from: record.time, to: Math.max(start.late.to, record.time) } };
        }
      }
      totals = advance(totals, time === 0 ? undefined : time, stepOf(record));
      time = record.time;
      review?.observe(observationOf(record), totals);
      this.reviewed++;
    }
    this.#points = made;
    this.standing = { ...this.standing, time, totals };
    return {};
  }

  /** Time alone: as a timer would. */
  tick(now: number): void {
    this.now = Math.max(this.now, now);
    const watch = this.engine.watch(this.device, this.standing, now);
    watch?.tick();
    this.#commit(watch?.outcome());
  }

  #commit(outcome: AlertOutcome | undefined): void {
    if (outcome !== undefined) {
      const { rules, alerts, notices, ended } = outcome;
      this.#tell(alerts, notices, ended);
      const { rules: _, ...rest } = this.standing;
      this.standing = { ...rest, ...(rules !== undefined && { rules }) };
    }
    this.engine.followed(this.device, this.standing, outcome?.notices.length ?? 0);
  }

  #tell(alerts: readonly Alert[], notices: readonly NewNotice[], ended: readonly AlertEnd[]): void {
    this.commits.push({ alerts: alerts.length, notices: notices.length });
    this.alerts.push(...alerts);
    this.notices.push(...notices);
    for (const alert of alerts)
      if (alert.phase === "raised") this.handling.set(alert, { state: "open", endedAt: null });
    // As the store does: a withdrawn alert has no end, so withdrawals come first.
    const sorted = ended.toSorted(
      (one, other) =>
        one.time - other.time || Number(other.withdrawn !== undefined) - Number(one.withdrawn !== undefined),
    );
    for (const { ruleKey, time, withdrawn } of sorted)
      for (const [alert, { state, endedAt }] of this.handling) {
        if (state === "closed" || alert.ruleKey !== ruleKey) continue;
        if (alert.id === withdrawn) this.handling.set(alert, { state: "closed", endedAt });
        else if (withdrawn === undefined && alert.time <= time && endedAt === null)
          this.handling.set(alert, { state: alert.critical ? "open" : "closed", endedAt: time });
      }
  }
}

function difference(one: Totals, other: Totals): TotalsSums {
  const ms = (input: 0 | 1 | 2 | 3) => one.sensorMs[input] - other.sensorMs[input];
  return { odometerMm: one.odometerMm - other.odometerMm, sensorMs: [ms(0), ms(1), ms(2), ms(3)] };
}

function geofenceOf(id: string, zone: Zone, key: number): Geofence {
  return { key, id, accountKey: 1, name: id, description: null, zone, creation: 0, modification: 0 };
}
