import type { AccountWording, AlertFacts, LocationAlerts } from "../model/alert.ts";
import type { DeviceState, Totals } from "../model/location.ts";
import type { Observation } from "../model/observation.ts";
import type { AlertOutcome, Watch, WatchedDevice } from "../ports/alert-engine.ts";
import type { Ids } from "../ports/ids.ts";
import { AlertWriter, mostBesideLate, type NoticeRoom } from "./alert-writer.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { deviceTime } from "./device-time.ts";
import type { Finder } from "./evaluate.ts";
import type { Seen } from "./judge.ts";
import { isWatchedBy, type Kept, levelAt, markedLate, packedRows, watchedBy, withPoint } from "./kept.ts";
import { RuleFold } from "./rule-fold.ts";
import type { RuleState } from "./rule-state.ts";
import { settledOf } from "./settled.ts";
import type { StateTexts } from "./state-texts.ts";
import type { AccountSight } from "./zone-sight.ts";

/** What a watch needs of the account and the engine. */
export interface WatchSetup {
  readonly device: WatchedDevice;
  readonly state: DeviceState;
  readonly now: number;
  readonly rules: readonly CompiledRule[];
  readonly sight: AccountSight;
  readonly wording: AccountWording;
  readonly ids: Ids;
  readonly texts: StateTexts;
  readonly timers: WatchTimers;
  readonly room: (device: WatchedDevice) => NoticeRoom;
}

/** What a watch has to do with timers: one for all watches, so that a watch that mostly finds nothing is cheaply made. */
export interface WatchTimers {
  /** When the device was heard of for the last time, by our clock; 0: never. */
  heardAt(device: WatchedDevice, state: DeviceState): number;
  /** Until when silence says nothing, by our clock: what was heard before the start may not be known; 0: silence counts. */
  silentUntil(device: WatchedDevice, state: DeviceState): number;
  /** The device is heard of though nothing new of it will stand in its state. */
  heard(device: WatchedDevice, now: number): void;
  /** It was looked whether time alone had made something true, and it had not. */
  unchanged(device: WatchedDevice, state: DeviceState, now: number): void;
}

/** The rules of one device over one batch. It takes what they find itself, so that nothing is made where nothing is found. */
export class DeviceWatch implements Watch, Finder {
  readonly #setup: WatchSetup;
  readonly #fold: RuleFold;
  readonly #keptBefore: Kept;
  #kept: Kept;
  /** What the text holds is no longer so, whatever the rules find. */
  readonly #isStale: boolean;
  /** How many reports in order the rules saw. */
  #observed = 0;
  /** Event times of this batch's first and last report that wait for a review. */
  #late: { readonly from: number; readonly to: number } | undefined;
  /** Event time up to which time alone has already changed states. */
  readonly #ahead: number;
  #writer: AlertWriter | undefined;

  constructor(setup: WatchSetup) {
    const { device, state, rules, sight, texts } = setup;
    this.#setup = setup;
    const states = texts.statesOf(device.key, state.rules, rules);
    this.#fold = new RuleFold({
      device,
      rules,
      states,
      sight,
      finder: this,
      totals: state.totals,
      time: state.time,
    });
    this.#ahead = aheadOf(rules, states);
    this.#keptBefore = texts.keptOf(device.key, state.rules, rules);
    const known = isWatchedBy(this.#keptBefore, rules);
    // What a rule knew goes with the first report that it does not see: when it watches again, that may be of another time.
    this.#isStale = texts.isStale(device.key, state.rules) || (rules.length === 0 && state.rules !== undefined);
    this.#kept = known ? this.#keptBefore : watchedBy(this.#keptBefore, rules, state.arrivals === 0 ? 0 : state.time);
  }

  get full(): boolean {
    return this.#writer?.full === true;
  }

  get mostBesideLate(): number {
    return mostBesideLate(this.#setup.rules.length);
  }

  observe(observation: Observation, totals: Totals): LocationAlerts | undefined {
    const { now } = this.#setup;
    this.#observed++;
    // What time alone made true may have been wrong: a review judges it again.
    const isBefore = this.#ahead > this.#setup.state.time && observation.time <= this.#ahead;
    if (isBefore) this.#markLate(observation.time, observation.time);
    this.#fold.observe(observation, totals, { now, heardAt: now }, isBefore ? "arrival" : undefined);
    return this.#writer?.end();
  }

  late(from: number, to: number): void {
    const { timers, device, now } = this.#setup;
    timers.heard(device, now);
    this.#markLate(from, to);
  }

  #markLate(from: number, to: number): void {
    this.#late = { from: Math.min(this.#late?.from ?? from, from), to: Math.max(this.#late?.to ?? to, to) };
    const late = markedLate(this.#keptBefore.late, this.#late.from, this.#late.to, this.#setup.state.arrivals);
    this.#kept = { ...this.#kept, late };
  }

  tick(): void {
    const { device, state, now, timers } = this.#setup;
    this.#fold.tick(deviceTime(state, now), {
      now,
      heardAt: timers.heardAt(device, state),
      silentUntil: timers.silentUntil(device, state),
    });
    this.#writer?.end();
    if (!this.#fold.changed) timers.unchanged(device, state, now);
  }

  outcome(): AlertOutcome | undefined {
    const { device, state, now, rules, texts } = this.#setup;
    if (this.#observed > 0) this.#makePoint();
    const { alerts, notices, ended } = this.#writer ?? { alerts: [], notices: [], ended: [] };
    const changed = this.#isStale || this.#fold.changed || this.#kept !== this.#keptBefore;
    if (!changed && alerts.length === 0) return undefined;
    // The time of the newest record, not the present: the next report may be of an earlier moment.
    const { time, states } = this.#fold;
    const text = changed ? texts.keep(device.key, rules, states, this.#kept, time, now) : state.rules;
    if (text === state.rules && alerts.length === 0) return undefined;
    return { rules: text, alerts, notices, ended };
  }

  /** Keeps the states after this batch as a point, if the newest point is far enough away. While late records wait for a review, the states are not those of the history, so there is no point. */
  #makePoint(): void {
    const { state, rules } = this.#setup;
    if (this.#kept.late !== undefined) return;
    const count = state.arrivals + this.#observed;
    const level = levelAt(this.#kept, count);
    if (level === undefined) return;
    const { rows, sums } = settledOf(rules, this.#fold);
    const point = { time: this.#fold.time, count, level, packed: packedRows(rows), sums };
    this.#kept = { ...this.#kept, points: withPoint(this.#kept.points, point) };
  }

  raised(rule: CompiledRule, at: Seen, time: number, facts: AlertFacts): void {
    this.#writing().raised(rule, at, time, facts);
  }

  over(rule: CompiledRule, at: Seen, time: number, facts: AlertFacts): void {
    this.#writing().over(rule, at, time, facts);
  }

  #writing(): AlertWriter {
    const { device, wording, ids, now, room } = this.#setup;
    this.#writer ??= new AlertWriter(device, wording, ids, now, room(device));
    return this.#writer;
  }
}

/** The last moment, on the clock of the reports, at which time alone changed the state of a rule. */
function aheadOf(rules: readonly CompiledRule[], states: readonly RuleState[]): number {
  let ahead = 0;
  for (let at = 0; at < rules.length; at++) {
    const since = states[at]?.since ?? 0;
    if (since > ahead && rules[at]?.clock !== "arrival") ahead = since;
  }
  return ahead;
}
