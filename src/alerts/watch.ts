import type { AccountWording, AlertFacts, LocationAlerts } from "../model/alert.ts";
import type { Totals } from "../model/location.ts";
import type { Observation } from "../model/observation.ts";
import type { Standing } from "../model/standing.ts";
import type { AlertOutcome, Watch, WatchedDevice } from "../ports/alert-engine.ts";
import type { Ids } from "../ports/ids.ts";
import { AlertWriter, type NoticeRoom } from "./alert-writer.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { deviceTime } from "./device-time.ts";
import type { Finder } from "./evaluate.ts";
import type { Seen } from "./judge.ts";
import { RuleFold } from "./rule-fold.ts";
import { settledText } from "./settled.ts";
import { type Ahead, type ReadPresent, type StateTexts, watchesSince } from "./state-texts.ts";
import type { AccountSight } from "./zone-sight.ts";

/** What a watch needs of the account and the engine. */
export interface WatchSetup {
  readonly device: WatchedDevice;
  readonly standing: Standing;
  readonly now: number;
  readonly rules: readonly CompiledRule[];
  readonly sight: AccountSight;
  readonly wording: AccountWording;
  readonly ids: Ids;
  readonly texts: StateTexts;
  readonly timers: WatchTimers;
  readonly room: (device: WatchedDevice) => NoticeRoom;
}

/**
 * What a watch has to do with timers: one for all watches, so that a watch that mostly finds nothing is cheaply made.
 */
export interface WatchTimers {
  /** When the device was heard of for the last time, by our clock; 0: never. */
  heardAt(device: WatchedDevice, standing: Standing): number;
  /**
   * Until when silence says nothing, by our clock: what was heard before the start may not be known; 0: silence counts.
   */
  silentUntil(device: WatchedDevice, standing: Standing): number;
  /** It was looked whether time alone had made something true, and it had not. */
  unchanged(device: WatchedDevice, standing: Standing, now: number): void;
}

/**
 * The rules of one device over records that are newer than all before. It takes what they find itself, so that nothing
 * is made where nothing is found.
 */
export class DeviceWatch implements Watch, Finder {
  readonly #setup: WatchSetup;
  readonly #fold: RuleFold;
  readonly #present: ReadPresent;
  readonly #since: readonly number[];
  #ahead: Ahead | undefined;
  #late: Watch["late"];
  #writer: AlertWriter | undefined;

  constructor(setup: WatchSetup) {
    const { device, standing, rules, sight, texts } = setup;
    this.#setup = setup;
    this.#present = texts.read(device.key, standing.rules, rules);
    this.#since = watchesSince(this.#present.since, standing.time);
    this.#ahead = this.#present.ahead;
    this.#fold = new RuleFold({
      device,
      rules,
      states: this.#present.states,
      sight,
      finder: this,
      totals: standing.totals,
      time: standing.time,
    });
  }

  get full(): boolean {
    return this.#writer?.full === true;
  }

  get late(): Watch["late"] {
    return this.#late;
  }

  observe(observation: Observation, totals: Totals): LocationAlerts | undefined {
    const { now } = this.#setup;
    const { time } = observation;
    // What time alone made true may have been wrong: only a review can tell.
    const isLate = this.#ahead !== undefined && time <= this.#ahead.until;
    if (isLate) this.#late = { from: Math.min(this.#late?.from ?? time, time), to: time };
    else this.#ahead = undefined;
    this.#fold.observe(observation, totals, { now, heardAt: now }, isLate ? "arrival" : undefined);
    return this.#writer?.end();
  }

  tick(): void {
    const { device, standing, now, timers } = this.#setup;
    const settled = this.settled();
    const until = this.#fold.tick(deviceTime(standing, now), {
      now,
      heardAt: timers.heardAt(device, standing),
      silentUntil: timers.silentUntil(device, standing),
    });
    if (until !== undefined) this.#ahead = { until, settled };
    this.#writer?.end();
    if (!this.#fold.changed) timers.unchanged(device, standing, now);
  }

  settled(): string | undefined {
    return this.#ahead === undefined ? settledText(this.#setup.rules, this.#fold) : this.#ahead.settled;
  }

  outcome(): AlertOutcome | undefined {
    const { device, standing, now, rules, texts } = this.#setup;
    const { alerts, notices, ended } = this.#writer ?? { alerts: [], notices: [], ended: [] };
    const { time, states } = this.#fold;
    // The time of the newest record, not the present: the next report may be of an earlier moment.
    const text = this.#isChanged
      ? texts.write(device.key, rules, { states, since: this.#since, ahead: this.#ahead }, time, now)
      : standing.rules;
    if (text === standing.rules && alerts.length === 0) return undefined;
    return { rules: text, alerts, notices, ended };
  }

  get #isChanged(): boolean {
    const { standing, rules } = this.#setup;
    // What a rule knew goes with the first report that it does not see: when it watches again, that may be of another
    // time.
    const isStale = this.#present.stale || (rules.length === 0 && standing.rules !== undefined);
    return isStale || this.#fold.changed || this.#since !== this.#present.since || this.#ahead !== this.#present.ahead;
  }

  raised(rule: CompiledRule, at: Seen, time: number, facts: AlertFacts): void {
    this.#writing().raised(rule, at, time, facts);
  }

  over(rule: CompiledRule, at: Seen, time: number, facts: AlertFacts): void {
    this.#writing().closed(rule, time);
    this.#writing().over(rule, at, time, facts);
  }

  #writing(): AlertWriter {
    const { device, wording, ids, now, room } = this.#setup;
    this.#writer ??= new AlertWriter(device, wording, ids, now, room(device));
    return this.#writer;
  }
}
