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
  /** Fingerprint of what the rule judged by. States of before there was one have the rule's revision here, and are no rule's any more. */
  readonly judged: number;
  readonly state: RuleState;
}

const noFacts: AlertFacts = Object.freeze({});
/** Older versions kept their pauses of e-mails in this place, and one of the bits (8) was theirs. Their rows can still be read. */
const noMail: readonly number[] = Object.freeze([]);
const levelBit = 4;

/** Text of states, of the row of each. Undefined: there is nothing to keep. */
export function encodeStates(rows: readonly string[]): string | undefined {
  return rows.length === 0 ? undefined : `[${rows.join()}]`;
}

/** A state's row, as short as it can be: what is at its end and as at first is left out. */
export function encodeState({ ruleKey, judged, state }: StateEntry): string {
  const { phase, since, firedAt, level, conditions, memory, facts } = state;
  const bits = phase | (level ? levelBit : 0);
  const row = [ruleKey, judged, bits, since, firedAt, conditions, memory];
  return JSON.stringify(facts === undefined ? row : [...row, noMail, facts]);
}

/** States of a text; what is not as it should be gives none, so a text of any origin can be read. */
export function decodeStates(text: string | undefined): readonly StateEntry[] {
  return entriesOf(parsed(text));
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

/** States of rows that were read as JSON. */
export function entriesOf(rows: unknown): readonly StateEntry[] {
  return Array.isArray(rows) ? rows.flatMap((row) => entryOf(row) ?? []) : [];
}

function entryOf(row: unknown): StateEntry | undefined {
  if (!Array.isArray(row)) return undefined;
  const [ruleKey, judged, bits, since, firedAt, conditions, memory, _mail, facts]: readonly unknown[] = row;
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
