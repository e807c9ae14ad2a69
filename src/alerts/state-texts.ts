import type { DeviceKey } from "../model/device.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { isForgettable } from "./evaluate.ts";
import { encodeKept, type Kept, keptOf, nothingKept } from "./kept.ts";
import { encodeState, encodeStates, entriesOf, initialState, parsed, type RuleState } from "./rule-state.ts";

/** States that are kept read, some 100 bytes each, and 100 bytes of their texts count as one; the devices used longest ago make room. */
const mostStates = 1_000_000;
const bytesOfState = 100;

interface Read {
  readonly text: string | undefined;
  readonly rules: readonly CompiledRule[];
  readonly states: readonly RuleState[];
  readonly kept: Kept;
  /** What is kept as the text has it, where that has been written: mostly it stays as it is while a state changes. */
  readonly keptText: string | undefined;
  /** The row of each state in the text, where it has been written: most states stay as they are while one changes. */
  readonly rows: readonly (string | undefined)[];
  /** The text holds states that are no rule's of these. */
  readonly stale: boolean;
}

const noRows: readonly undefined[] = [];

/**
 * States as they are read from the text that a device carries. What was read or written last is remembered with its text:
 * where the device still carries that text it holds, and where another commit won, it does not.
 */
export class StateTexts {
  readonly #read = new Map<DeviceKey, Read>();
  #states = 0;
  /** For lists of rules, the states of a device that has none yet. */
  readonly #initial = new WeakMap<readonly CompiledRule[], readonly RuleState[]>();

  /** The states of these rules, in their order. */
  statesOf(device: DeviceKey, text: string | undefined, rules: readonly CompiledRule[]): readonly RuleState[] {
    return text === undefined ? this.#initialOf(rules) : this.#of(device, text, rules).states;
  }

  /** What is kept beside the states. */
  keptOf(device: DeviceKey, text: string | undefined, rules: readonly CompiledRule[]): Kept {
    return text === undefined ? nothingKept : this.#of(device, text, rules).kept;
  }

  /** Whether the text whose states were asked for last holds others too, of rules that are gone, rest or judge something else now. */
  isStale(device: DeviceKey, text: string | undefined): boolean {
    const known = text === undefined ? undefined : this.#read.get(device);
    return known?.text === text && known?.stale === true;
  }

  /** The text of the states and of what is kept beside them. `time`: that of the newest record. Undefined: no rule watches. */
  keep(
    device: DeviceKey,
    rules: readonly CompiledRule[],
    states: readonly RuleState[],
    kept: Kept,
    time: number,
    now: number,
  ): string | undefined {
    if (rules.length === 0) return undefined;
    const known = this.#read.get(device);
    const before = known?.rules === rules ? known : undefined;
    const written: string[] = [];
    const rows: (string | undefined)[] = [];
    const after = states.map((state, at) => {
      const compiled = rules[at];
      if (compiled === undefined || isForgettable(compiled, state, compiled.clock === "arrival" ? now : time)) {
        rows.push(undefined);
        return initialState;
      }
      const { rule, judged } = compiled;
      const same = before?.states[at] === state ? before.rows[at] : undefined;
      const row = same ?? encodeState({ ruleKey: rule.key, judged, state });
      rows.push(row);
      written.push(row);
      return state;
    });
    const keptText = (before?.kept === kept ? before.keptText : undefined) ?? encodeKept(kept);
    const text = `${keptText},"s":${encodeStates(written) ?? "[]"}}`;
    this.#remember(device, { text, rules, states: after, kept, keptText, rows, stale: false });
    return text;
  }

  forget(device: DeviceKey): void {
    const known = this.#read.get(device);
    if (known === undefined) return;
    this.#states -= weightOf(known);
    this.#read.delete(device);
  }

  #of(device: DeviceKey, text: string, rules: readonly CompiledRule[]): Read {
    const known = this.#read.get(device);
    if (known !== undefined && known.text === text && known.rules === rules) return known;
    const json = parsed(text);
    const entries = new Map(entriesOf(rowsOf(json)).map((entry) => [entry.ruleKey, entry]));
    let found = 0;
    const states = rules.map(({ rule, judged }) => {
      const entry = entries.get(rule.key);
      if (entry?.judged !== judged) return initialState;
      found++;
      return entry.state;
    });
    const stale = found < entries.size;
    const read = { text, rules, states, kept: keptOf(json), keptText: undefined, rows: noRows, stale };
    this.#remember(device, read);
    return read;
  }

  #initialOf(rules: readonly CompiledRule[]): readonly RuleState[] {
    const known = this.#initial.get(rules);
    if (known !== undefined) return known;
    const states = rules.map(() => initialState);
    this.#initial.set(rules, states);
    return states;
  }

  #remember(device: DeviceKey, read: Read): void {
    const known = this.#read.get(device);
    this.#states += weightOf(read) - (known === undefined ? 0 : weightOf(known));
    // Deleting first moves the device to the end of the map's order; only near the limit does that order matter.
    if (this.#states > mostStates / 2) this.#read.delete(device);
    this.#read.set(device, read);
    for (const oldest of this.#read.keys()) {
      if (this.#states <= mostStates || oldest === device) break;
      this.forget(oldest);
    }
  }
}

/** The rows of states in a text; older versions wrote these alone. */
function rowsOf(json: unknown): unknown {
  return typeof json === "object" && json !== null && "s" in json ? json.s : json;
}

function weightOf({ states, text }: Read): number {
  return states.length + (text?.length ?? 0) / bytesOfState;
}
