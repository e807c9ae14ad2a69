import type { AlertFactsOf } from "../model/alert-facts.ts";
import type { AlertParameters, AlertType } from "../model/alert-rule.ts";
import { noTotals, type Totals } from "../model/location.ts";
import type { Observation } from "../model/observation.ts";
import type { WatchedDevice } from "../ports/alert-engine.ts";

/**
 * What a judge says of an observation. `nothing`: it does not speak of it, all stays as it was · `pulse`: it was true
 * in between and is over already · `anew`: it is true and has begun again, though nobody saw the end of what stands
 * raised. Numbers, because they are compared for every rule and fix.
 */
export const nothing = 0;
export const no = 1;
export const yes = 2;
export const pulse = 3;
export const anew = 4;
/** One of the five. */
export type Judgement = typeof nothing | typeof no | typeof yes | typeof pulse | typeof anew;

/**
 * What is known of a zone at a fix: bits. The position before was in it, the new one is, the straight line between
 * touches it.
 */
export const wasIn = 1;
export const isIn = 2;
export const crossed = 4;

/** Index of a zone that is gone: nothing is inside of it. */
export const noZone = -1;

/** The zones of the account as seen from the present fix. Meaningful where the fix has a credible position. */
export interface ZoneSight {
  /** Bits for the zone of that index. */
  bits(zone: number): number;
  /** There is a position before, so that it can be told what was entered and left. */
  readonly known: boolean;
}

const noZones: ZoneSight = { bits: () => 0, known: false };

/**
 * What is there to judge: one object that a watch fills for each observation, so that nothing is made for a judgement.
 * By time alone there is no observation: `time` then is the moment that is looked at, on the clock of the rule's type.
 */
export class Seen {
  /** Event time, or the moment that is looked at. */
  time = 0;
  /** The moment of evaluation, and when the device was heard of for the last time: by our clock. */
  now = 0;
  heardAt = 0;
  /** Until when silence says nothing: see `WatchTimers`. */
  silentUntil = 0;
  observation: Observation | undefined = undefined;
  /** The observation has a credible position (`src/geo/credible.ts`): zones, speed and movement are judged. */
  placed = false;
  /**
   * Totals after the observation, and those before with their event time (0: it is the first). By time alone both are
   * the last ones.
   */
  totals: Totals = noTotals;
  previous: Totals = noTotals;
  previousTime = 0;
  device: WatchedDevice = { key: 0, accountKey: 0, id: "", name: "", expires: null, odometerStart: 0 };
  zones: ZoneSight = noZones;
  /** The last moment at which time alone changed a state. */
  changedAt = 0;
  /** What the judge remembers of this device. To change it, it puts another array there. */
  memory: readonly number[] = noMemory;
  /** The judgement before this one was yes; and an alert stands raised. */
  held = false;
  raised = false;
}

/** A judge that remembers nothing (yet). */
export const noMemory: readonly number[] = Object.freeze([]);

/** Judges something that lasts. `F`: its evidence. */
export interface LevelJudge<F> {
  readonly kind: "level";
  judge(seen: Seen): Judgement;
  /** The moment at which it becomes true if nothing more is reported; Infinity: never. Asked while it is not true. */
  due?(seen: Seen): number;
  /** Evidence for a `yes`, a `pulse`, or for its being over. */
  facts(seen: Seen): F;
}

/** Judges something that happens: answers the evidence of each, usually none (`noEvents`). */
export interface EventJudge<F> {
  readonly kind: "events";
  judge(seen: Seen): readonly F[];
  /** The moment at which something happens if nothing more is reported; Infinity: never. */
  due?(seen: Seen): number;
}

/** One or the other. */
export type Judge<F> = LevelJudge<F> | EventJudge<F>;

/** Nothing happened. */
export const noEvents: readonly never[] = Object.freeze([]);

/** What a judge is made with beside the type's parameters. */
export interface JudgeSetup {
  /** The rule's hysteresis: the value that must be passed back; null: the threshold itself. */
  readonly rearmAt: number | null;
  /**
   * Indices (in the account's zones) and names of the zones in `parameters.zones`, in their order; `noZone` and no
   * name: it is gone.
   */
  readonly zones: readonly number[];
  readonly zoneNames: readonly string[];
}

/** A type of rule. */
export interface RuleType<T extends AlertType> {
  /**
   * What time alone can make true, and on which clock. `event`: that of the device's own reports, going on since the
   * last one · `arrival`: ours · `none`: only a report can.
   */
  readonly clock: "none" | "event" | "arrival";
  /** It happens at a moment and lasts not: it is never over, and can't be asked to hold. */
  readonly momentary: boolean;
  /** It looks at sums over the whole history, which a late record changes for all later records. */
  readonly sums?: true;
  /** For types with a threshold, where it is and on which side it is passed: `rearmAt` has a meaning. */
  threshold?(parameters: AlertParameters[T]): { readonly limit: number; readonly side: "over" | "under" };
  /** Everything that is wrong with the parameters, as sentences; the zones they name are looked at by the caller. */
  check(parameters: AlertParameters[T]): readonly string[];
  /** What it needs in readings to find anything, as a sentence, where that is not plain from its parameters. */
  needs?(parameters: AlertParameters[T]): string;
  /** Made once for each rule, so that its closures hold what can be worked out before. */
  judge(parameters: AlertParameters[T], setup: JudgeSetup): Judge<AlertFactsOf[T]>;
}
