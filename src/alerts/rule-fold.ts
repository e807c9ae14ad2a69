import type { Totals } from "../model/location.ts";
import type { Observation } from "../model/observation.ts";
import type { WatchedDevice } from "../ports/alert-engine.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { advanceRule, type Finder, judgeRule, nextMoment } from "./evaluate.ts";
import { Seen } from "./judge.ts";
import { holding } from "./machine.ts";
import { initialState, type RuleState } from "./rule-state.ts";
import type { AccountSight } from "./zone-sight.ts";

/** One for all folds: what is in it counts for one step only, and judging is synchronous. */
const seen = new Seen();

/** Where a fold begins, and who is told. */
export interface FoldStart {
  readonly device: WatchedDevice;
  readonly rules: readonly CompiledRule[];
  readonly states: readonly RuleState[];
  /** Totals and event time of the record before. */
  readonly totals: Totals;
  readonly time: number;
  readonly sight: AccountSight;
  readonly finder: Finder;
  /** Event time up to which each rule does not watch; absent: all of them watch. */
  readonly since?: readonly number[];
}

/** When a step is taken, by our clock, and when the device was heard of for the last time. */
export interface StepClock {
  readonly now: number;
  readonly heardAt: number;
  /** See `WatchTimers`; absent: silence counts. */
  readonly silentUntil?: number;
}

/** The rules of one device folded over its records: the same for what comes in, what came late and what is tried. */
export class RuleFold {
  readonly #start: FoldStart;
  readonly #rules: readonly CompiledRule[];
  #states: readonly RuleState[];
  #own: RuleState[] | undefined;
  #totals: Totals;
  #time: number;

  constructor(start: FoldStart) {
    this.#start = start;
    this.#rules = start.rules;
    this.#states = start.states;
    this.#totals = start.totals;
    this.#time = start.time;
  }

  /** The rules' states, in their order. */
  get states(): readonly RuleState[] {
    return this.#states;
  }

  /** Totals and event time of the last record. */
  get totals(): Totals {
    return this.#totals;
  }

  get time(): number {
    return this.#time;
  }

  /** Some state is another than at the beginning. */
  get changed(): boolean {
    return this.#own !== undefined;
  }

  /** A copy that goes on by itself. */
  fork(finder: Finder): RuleFold {
    return new RuleFold({ ...this.#start, states: [...this.#states], totals: this.#totals, time: this.#time, finder });
  }

  /**
   * Judges the next record. `totals`: those after the record. `only`: rules with another clock do not see the record.
   */
  observe(observation: Observation, totals: Totals, clock: StepClock, only?: CompiledRule["clock"]): void {
    const { sight, finder, since } = this.#start;
    this.#prepare(clock);
    const due = this.#dueBefore(observation.time);
    let nextDue = 0;
    seen.observation = observation;
    seen.time = observation.time;
    seen.totals = totals;
    seen.placed = isCredible(observation, totals);
    if (seen.placed) sight.look(observation, this.#totals, totals);
    for (let at = 0; at < this.#rules.length; at++) {
      const rule = this.#rules[at];
      const before = this.#states[at];
      if (rule === undefined || before === undefined) continue;
      const isDue = due?.[nextDue] === at;
      if (isDue) nextDue++;
      if (since !== undefined && observation.time <= (since[at] ?? 0)) continue;
      if (only !== undefined && rule.clock !== only) continue;
      let state = before;
      if (isDue) state = advanceRule(rule, state, seen, observation.time, false, finder);
      state = judgeRule(rule, state, seen, finder);
      if (state !== before) this.#put(at, state);
    }
    this.#totals = totals;
    this.#time = observation.time;
  }

  /**
   * Time goes on without a record: up to `present` on the device's clock, up to now on ours. Answers the last moment on
   * the device's clock at which that changed something; undefined: it changed nothing.
   */
  tick(present: number, clock: StepClock): number | undefined {
    const { finder, since } = this.#start;
    let changedAt: number | undefined;
    this.#prepare(clock);
    seen.observation = undefined;
    seen.totals = this.#totals;
    for (let at = 0; at < this.#rules.length; at++) {
      const rule = this.#rules[at];
      const before = this.#states[at];
      if (rule === undefined || before === undefined) continue;
      if (since !== undefined && present <= (since[at] ?? 0)) continue;
      const until = rule.clock === "arrival" ? clock.now : present;
      seen.changedAt = 0;
      let after = advanceRule(rule, before, seen, until, true, finder);
      // Being heard of without anything to store ends what our own clock began.
      if (rule.clock === "arrival" && after.level) {
        seen.time = clock.now;
        after = judgeRule(rule, after, seen, finder);
      }
      if (after === before) continue;
      this.#put(at, after);
      if (rule.clock !== "arrival") changedAt = Math.max(changedAt ?? 0, seen.changedAt);
    }
    return changedAt;
  }

  /**
   * Which rules time alone changes before that moment, by their places; undefined: none, as mostly. `seen` stands at
   * the record before.
   */
  #dueBefore(time: number): readonly number[] | undefined {
    let due: number[] | undefined;
    seen.observation = undefined;
    seen.totals = this.#totals;
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

  #prepare({ now, heardAt, silentUntil = 0 }: StepClock): void {
    seen.placed = false;
    seen.device = this.#start.device;
    seen.previous = this.#totals;
    seen.previousTime = this.#time;
    seen.zones = this.#start.sight;
    seen.now = now;
    seen.heardAt = heardAt;
    seen.silentUntil = silentUntil;
  }

  #put(at: number, state: RuleState): void {
    this.#own ??= this.#states.map((one) => one ?? initialState);
    this.#states = this.#own;
    this.#own[at] = state;
  }
}

/** Whether the totals after a report go by its position. */
export function isCredible({ positioned, time, latitude, longitude }: Observation, { anchor }: Totals): boolean {
  return positioned && anchor?.time === time && anchor.latitude === latitude && anchor.longitude === longitude;
}
