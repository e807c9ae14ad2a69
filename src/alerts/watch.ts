import type { AccountWording, AlertFacts, LocationAlerts } from "../model/alert.ts";
import type { DeviceState, Totals } from "../model/location.ts";
import type { AlertOutcome, Observation, Watch, WatchedDevice } from "../ports/alert-engine.ts";
import type { Ids } from "../ports/ids.ts";
import { AlertWriter, mostBesideLate, type NoticeRoom } from "./alert-writer.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { deviceTime } from "./device-time.ts";
import type { Finder } from "./evaluate.ts";
import type { Seen } from "./judge.ts";
import { isWatchedBy, type Kept, levelAt, markedLate, watchedBy, withPoint } from "./kept.ts";
import { RuleFold } from "./rule-fold.ts";
import type { RuleState } from "./rule-state.ts";
import { pointRows, pointSums } from "./settled.ts";
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
  #observed = false;
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
    this.#observed = true;
    this.#fold.observe(observation, totals, { now, heardAt: now });
    return this.#writer?.end();
  }

  late(from: number, to: number): void {
    const { timers, device, now, state } = this.#setup;
    timers.heard(device, now);
    this.#kept = { ...this.#kept, late: markedLate(this.#kept.late, from, to, state.arrivals) };
  }

  tick(): void {
    const { device, state, now, timers } = this.#setup;
    this.#fold.tick(deviceTime(state, now), { now, heardAt: timers.heardAt(device, state) });
    this.#writer?.end();
    if (!this.#fold.changed) timers.unchanged(device, state, now);
  }

  outcome(): AlertOutcome | undefined {
    const { device, state, now, rules, texts } = this.#setup;
    if (this.#observed) this.#makePoint();
    const { alerts, notices, ended } = this.#writer ?? { alerts: [], notices: [], ended: [] };
    const changed = this.#isStale || this.#fold.changed || this.#kept !== this.#keptBefore;
    if (!changed && alerts.length === 0) return undefined;
    const time = Math.max(this.#fold.time, deviceTime(state, now));
    const text = changed ? texts.keep(device.key, rules, this.#fold.states, this.#kept, time, now) : state.rules;
    if (text === state.rules && alerts.length === 0) return undefined;
    return { rules: text, alerts, notices, ended };
  }

  /** Keeps the states as they were before this batch, where the newest point is far enough behind. While late records wait to be seen, the states are no history's. */
  #makePoint(): void {
    const { device, state, rules, texts } = this.#setup;
    if (this.#kept.late !== undefined) return;
    const level = levelAt(this.#kept, state.arrivals);
    if (level === undefined) return;
    const states: readonly RuleState[] = texts.statesOf(device.key, state.rules, rules);
    const { time, arrivals: count, totals } = state;
    const point = { time, count, level, rows: pointRows(rules, states, time), sums: pointSums(rules, totals) };
    this.#kept = { ...this.#kept, points: withPoint(this.#kept.points, point) };
  }

  raised(rule: CompiledRule, state: RuleState, at: Seen, time: number, facts: AlertFacts): RuleState {
    return this.#writing().raised(rule, state, at, time, facts);
  }

  over(rule: CompiledRule, state: RuleState, at: Seen, time: number, facts: AlertFacts): RuleState {
    return this.#writing().over(rule, state, at, time, facts);
  }

  #writing(): AlertWriter {
    const { device, wording, ids, now, room } = this.#setup;
    this.#writer ??= new AlertWriter(device, wording, ids, now, room(device));
    return this.#writer;
  }
}
