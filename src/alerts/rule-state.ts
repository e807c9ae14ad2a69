import type { AlertFacts } from "../model/alert.ts";
import { factsFrom } from "./facts.ts";
import { noMemory } from "./judge.ts";
import { type Course, idle, type Phase, raised } from "./machine.ts";

/** What is kept of one rule for one device. Immutable. */
export interface RuleState extends Course {
  /** The last judgement was yes. */
  readonly level: boolean;
  /** Bit n: condition n was last known to be true. */
  readonly conditions: number;
  /** What the judge remembers. */
  readonly memory: readonly number[];
  /** Evidence of the alert that stands raised. */
  readonly facts: AlertFacts | undefined;
}

/** State of a rule that never found anything. It is not stored. */
export const initialState: RuleState = Object.freeze({
  phase: idle,
  since: 0,
  firedAt: 0,
  level: false,
  conditions: 0,
  memory: noMemory,
  facts: undefined,
});

/** A rule's state with what it belongs to. */
export interface StateEntry {
  readonly ruleKey: number;
  /** Fingerprint of what the rule judged by. */
  readonly judged: number;
  readonly state: RuleState;
}

const noFacts: AlertFacts = Object.freeze({});
const levelBit = 4;

/** A state is of one rule, and most stay as they are while one changes. */
const rows = new WeakMap<RuleState, string>();

/** A state's row, as short as it can be: what is at its end and as at first is left out. */
export function encodeState(entry: StateEntry): string {
  const known = rows.get(entry.state);
  if (known !== undefined) return known;
  const row = rowOf(entry);
  rows.set(entry.state, row);
  return row;
}

function rowOf({ ruleKey, judged, state }: StateEntry): string {
  const { phase, since, firedAt, level, conditions, memory, facts } = state;
  const bits = phase | (level ? levelBit : 0);
  const row = [ruleKey, judged, bits, since, firedAt, conditions, memory];
  return JSON.stringify(facts === undefined ? row : [...row, facts]);
}

/** What a text is as JSON; undefined where it is none. */
export function parsed(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** States of rows that were read as JSON; what is not as it should be gives none. */
export function entriesOf(rows: unknown): readonly StateEntry[] {
  return Array.isArray(rows) ? rows.flatMap((row) => entryOf(row) ?? []) : [];
}

function entryOf(row: unknown): StateEntry | undefined {
  if (!Array.isArray(row)) return undefined;
  const [ruleKey, judged, bits, since, firedAt, conditions, memory, facts]: readonly unknown[] = row;
  if (!isNumber(ruleKey) || !isNumber(judged) || !isNumber(bits) || !isNumber(since) || !isNumber(firedAt))
    return undefined;
  if (!isNumber(conditions) || !isNumbers(memory)) return undefined;
  const phase = phaseOf(bits & 3);
  const known = typeof facts === "object" && facts !== null && !Array.isArray(facts) ? factsFrom(facts) : undefined;
  return {
    ruleKey,
    judged,
    state: {
      phase,
      since,
      firedAt,
      level: (bits & levelBit) !== 0,
      conditions,
      memory: memory.length === 0 ? noMemory : memory,
      // What stands raised has evidence, if only none.
      facts: known ?? (phase === raised ? noFacts : undefined),
    },
  };
}

function phaseOf(bits: number): Phase {
  return bits === 1 || bits === 2 ? bits : idle;
}

/** Whether a value that was read is a number. */
export function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every(isNumber);
}
