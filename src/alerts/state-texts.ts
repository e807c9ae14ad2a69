import type { DeviceKey } from "../model/device.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { isForgettable } from "./evaluate.ts";
import { encodeState, entriesOf, initialState, isNumber, parsed, type RuleState } from "./rule-state.ts";

/**
 * States that are kept read, some 100 bytes each, and 100 bytes of their texts count as one; the devices used longest
 * ago make room.
 */
const mostStates = 1_000_000;
const bytesOfState = 100;

/** How far time alone went ahead of the records. */
export interface Ahead {
  /** The last moment at which it changed something. */
  readonly until: number;
  /** What the records alone had made of the rules: see `settledText`. */
  readonly settled: string | undefined;
}

/** The present of a device's rules. Immutable. */
export interface Present {
  /** In the order of the rules. */
  readonly states: readonly RuleState[];
  /** Event time behind which each rule watches. */
  readonly since: readonly number[];
  /** Undefined: all is as the records alone made it. */
  readonly ahead: Ahead | undefined;
}

/** The present as a text has it. */
export interface ReadPresent extends Omit<Present, "since"> {
  /** Undefined: the rule is new. */
  readonly since: readonly (number | undefined)[];
  /** The text holds what is no longer so: rules that are gone, rest or judge something else now. */
  readonly stale: boolean;
}

interface Known {
  readonly text: string | undefined;
  readonly rules: readonly CompiledRule[];
  readonly present: ReadPresent;
}

/**
 * The present of devices' rules as they carry it in a text. What was read or written last is remembered with its text:
 * where the device still carries that text it holds, and where another commit won, it does not.
 */
export class StateTexts {
  readonly #known = new Map<DeviceKey, Known>();
  #states = 0;
  /** For lists of rules, the present of a device that has none yet. */
  readonly #initial = new WeakMap<readonly CompiledRule[], ReadPresent>();

  read(device: DeviceKey, text: string | undefined, rules: readonly CompiledRule[]): ReadPresent {
    if (text === undefined) return this.#initialOf(rules);
    const known = this.#known.get(device);
    if (known !== undefined && known.text === text && known.rules === rules) return known.present;
    const present = presentIn(text, rules);
    this.#remember(device, { text, rules, present });
    return present;
  }

  /** The text of the present. `time`: that of the newest record. Undefined: no rule watches. */
  write(
    device: DeviceKey,
    rules: readonly CompiledRule[],
    { states, since, ahead }: Present,
    time: number,
    now: number,
  ): string | undefined {
    if (rules.length === 0) return undefined;
    const written: string[] = [];
    const after = states.map((state, at) => {
      const compiled = rules[at];
      if (compiled === undefined || isForgettable(compiled, state, compiled.clock === "arrival" ? now : time))
        return initialState;
      const { rule, judged } = compiled;
      written.push(encodeState({ ruleKey: rule.key, judged, state }));
      return state;
    });
    const moved = ahead === undefined ? "" : `"ahead":${JSON.stringify([ahead.until, ahead.settled ?? null])},`;
    const text = `{"since":${sinceText(rules, since)},${moved}"states":[${written.join()}]}`;
    this.#remember(device, { text, rules, present: { states: after, since, ahead, stale: false } });
    return text;
  }

  forget(device: DeviceKey): void {
    const known = this.#known.get(device);
    if (known === undefined) return;
    this.#states -= weightOf(known);
    this.#known.delete(device);
  }

  #initialOf(rules: readonly CompiledRule[]): ReadPresent {
    const known = this.#initial.get(rules);
    if (known !== undefined) return known;
    const [states, since] = [rules.map(() => initialState), rules.map(() => undefined)];
    const present = { states, since, ahead: undefined, stale: false };
    this.#initial.set(rules, present);
    return present;
  }

  #remember(device: DeviceKey, read: Known): void {
    const known = this.#known.get(device);
    this.#states += weightOf(read) - (known === undefined ? 0 : weightOf(known));
    // Deleting first moves the device to the end of the map's order; only near the limit does that order matter.
    if (this.#states > mostStates / 2) this.#known.delete(device);
    this.#known.set(device, read);
    for (const oldest of this.#known.keys()) {
      if (this.#states <= mostStates || oldest === device) break;
      this.forget(oldest);
    }
  }
}

/** Since when each of the rules watches; one that is new since `time`. The same list where none is. */
export function watchesSince(since: ReadPresent["since"], time: number): readonly number[] {
  return isComplete(since) ? since : since.map((moment) => moment ?? time);
}

function isComplete(since: readonly (number | undefined)[]): since is readonly number[] {
  return !since.includes(undefined);
}

/** Moments, each with the prints of the rules that watch since then: mostly there is one. */
function sinceText(rules: readonly CompiledRule[], since: readonly number[]): string {
  const groups = new Map<number, number[]>();
  rules.forEach(({ print }, at) => {
    const moment = since[at] ?? 0;
    const group = groups.get(moment);
    if (group === undefined) groups.set(moment, [print]);
    else group.push(print);
  });
  return JSON.stringify([...groups].map(([moment, prints]) => [moment, ...prints]));
}

/** What is not as it should be gives a first state, or a rule that is new. */
function presentIn(text: string, rules: readonly CompiledRule[]): ReadPresent {
  const { since, ahead, states }: { since?: unknown; ahead?: unknown; states?: unknown } = objectOf(parsed(text));
  const entries = new Map(entriesOf(states).map((entry) => [entry.ruleKey, entry]));
  const moments = new Map<number, number>();
  for (const group of listOf(since)) {
    const [moment, ...prints] = listOf(group).filter(isNumber);
    if (moment !== undefined) for (const print of prints) moments.set(print, moment);
  }
  let found = 0;
  const own = rules.map(({ rule, judged }) => {
    const entry = entries.get(rule.key);
    if (entry?.judged !== judged) return initialState;
    found++;
    return entry.state;
  });
  return {
    states: own,
    since: rules.map(({ print }) => moments.get(print)),
    ahead: aheadIn(ahead),
    stale: found < entries.size || rules.length < moments.size,
  };
}

function aheadIn(value: unknown): Ahead | undefined {
  const [until, settled] = listOf(value);
  return isNumber(until) ? { until, settled: typeof settled === "string" ? settled : undefined } : undefined;
}

function objectOf(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function weightOf({ present, text }: Known): number {
  return present.states.length + (text?.length ?? 0) / bytesOfState;
}
