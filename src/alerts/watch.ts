import type { AccountWording, AlertFacts, LocationAlerts } from "../model/alert.ts";
import type { DeviceState, LocationRecord, Totals } from "../model/location.ts";
import type { AlertOutcome, Observation, Watch, WatchedDevice } from "../ports/alert-engine.ts";
import type { Ids } from "../ports/ids.ts";
import { AlertWriter, mostLateWith, type NoticeRoom } from "./alert-writer.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { deviceTime } from "./device-time.ts";
import { advanceRule, type Finder, judgeRule, nextMoment } from "./evaluate.ts";
import { Seen } from "./judge.ts";
import { judgeLate } from "./late.ts";
import { holding } from "./machine.ts";
import { initialState, type RuleState } from "./rule-state.ts";
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

/** One for all watches: what is in it counts for one observation only, and judging is synchronous. */
const seen = new Seen();

/** The rules of one device over one batch. It takes what they find itself, so that nothing is made where nothing is found. */
export class DeviceWatch implements Watch, Finder {
  readonly #setup: WatchSetup;
  readonly #rules: readonly CompiledRule[];
  #states: readonly RuleState[];
  /** The same, once something changed. */
  #own: RuleState[] | undefined;
  #writer: AlertWriter | undefined;
  #previous: Totals;
  #previousTime: number;

  constructor(setup: WatchSetup) {
    this.#setup = setup;
    this.#rules = setup.rules;
    this.#states = setup.texts.statesOf(setup.device.key, setup.state.rules, setup.rules);
    // What a rule knew goes with the first report that it does not see: when it watches again, that may be of another time.
    if (setup.texts.isStale(setup.device.key, setup.state.rules)) this.#own = [...this.#states];
    this.#previous = setup.state.totals;
    this.#previousTime = setup.state.time;
  }

  get full(): boolean {
    return this.#writer?.full === true;
  }

  get mostLate(): number {
    return mostLateWith(this.#rules.length);
  }

  observe(observation: Observation, totals: Totals): LocationAlerts | undefined {
    const { now, sight } = this.#setup;
    this.#prepare();
    seen.now = now;
    seen.heardAt = now;
    const due = this.#dueBefore(observation.time);
    let nextDue = 0;
    seen.observation = observation;
    seen.time = observation.time;
    seen.totals = totals;
    if (observation.positioned) sight.look(observation, this.#previous, totals);
    for (let at = 0; at < this.#rules.length; at++) {
      const rule = this.#rules[at];
      const before = this.#states[at];
      if (rule === undefined || before === undefined) continue;
      let state = before;
      if (due?.[nextDue] === at) {
        nextDue++;
        state = advanceRule(rule, state, seen, observation.time, false, this);
      }
      state = judgeRule(rule, state, seen, this);
      if (state !== before) this.#put(at, state);
    }
    this.#previous = totals;
    this.#previousTime = observation.time;
    return this.#writer?.end();
  }

  /** Which rules time alone changes before that moment, by their places; undefined: none, as mostly. `seen` stands at the report before. */
  #dueBefore(time: number): readonly number[] | undefined {
    let due: number[] | undefined;
    seen.observation = undefined;
    seen.totals = this.#previous;
    for (let at = 0; at < this.#rules.length; at++) {
      const rule = this.#rules[at];
      const state = this.#states[at];
      if (rule === undefined || state === undefined) continue;
      if (!rule.timed && (state.phase !== holding || rule.clock !== "none")) continue;
      if (nextMoment(rule, state, seen) >= time) continue;
      due ??= [];
      due.push(at);
    }
    return due;
  }

  observeLate(
    late: readonly { readonly observation: Observation; readonly totals: Totals }[],
    stored: { readonly before: LocationRecord | undefined; readonly after: readonly LocationRecord[] },
  ): readonly (LocationAlerts | undefined)[] {
    this.#setup.timers.heard(this.#setup.device, this.#setup.now);
    const writer = this.#writing();
    writer.late = true;
    seen.device = this.#setup.device;
    seen.now = this.#setup.now;
    seen.heardAt = this.#setup.now;
    const alerts = judgeLate(late, stored, {
      rules: this.#rules,
      stateAt: (at) => this.#states[at] ?? initialState,
      seen,
      sight: this.#setup.sight,
      writer,
      newestTime: this.#previousTime,
      put: (at, state) => this.#put(at, state),
    });
    writer.late = false;
    return alerts;
  }

  tick(): void {
    const { device, state, now, timers } = this.#setup;
    this.#prepare();
    seen.observation = undefined;
    seen.totals = this.#previous;
    seen.now = now;
    seen.heardAt = timers.heardAt(device, state);
    const present = deviceTime(state, now);
    for (let at = 0; at < this.#rules.length; at++) {
      const rule = this.#rules[at];
      const before = this.#states[at];
      if (rule === undefined || before === undefined) continue;
      const until = rule.clock === "arrival" ? now : present;
      let after = advanceRule(rule, before, seen, until, true, this);
      // Being heard of without anything to store ends what our own clock began.
      if (rule.clock === "arrival" && after.level) {
        seen.time = now;
        after = judgeRule(rule, after, seen, this);
      }
      if (after !== before) this.#put(at, after);
    }
    this.#writer?.end();
    if (this.#own === undefined) timers.unchanged(device, state, now);
  }

  outcome(): AlertOutcome | undefined {
    const { device, state, now, texts } = this.#setup;
    const alerts = this.#writer?.alerts ?? [];
    if (this.#own === undefined && alerts.length === 0) return undefined;
    const time = Math.max(this.#previousTime, deviceTime(state, now));
    const rules = this.#own === undefined ? state.rules : texts.keep(device.key, this.#rules, this.#own, time, now);
    if (rules === state.rules && alerts.length === 0) return undefined;
    return { rules, alerts, notices: this.#writer?.notices ?? [] };
  }

  #prepare(): void {
    seen.device = this.#setup.device;
    seen.previous = this.#previous;
    seen.previousTime = this.#previousTime;
    seen.zones = this.#setup.sight;
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

  #put(at: number, state: RuleState): void {
    this.#own ??= this.#states.map((one) => one ?? initialState);
    this.#states = this.#own;
    this.#own[at] = state;
  }
}
