import type { DeviceKey } from "../model/device.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { isForgettable } from "./evaluate.ts";
import { decodeStates, encodeStates, initialState, type RuleState, type StateEntry } from "./rule-state.ts";

/** Devices whose states are kept read, some 1 kB each; the ones used longest ago make room. */
const mostDevices = 100_000;

interface Read {
  readonly text: string | undefined;
  readonly rules: readonly CompiledRule[];
  readonly states: readonly RuleState[];
}

/**
 * States as they are read from the text that a device carries. What was read or written last is remembered with its text:
 * where the device still carries that text it holds, and where another commit won, it does not.
 */
export class StateTexts {
  readonly #read = new Map<DeviceKey, Read>();
  /** For lists of rules, the states of a device that has none yet. */
  readonly #initial = new WeakMap<readonly CompiledRule[], readonly RuleState[]>();

  /** The states of these rules, in their order. */
  statesOf(device: DeviceKey, text: string | undefined, rules: readonly CompiledRule[]): readonly RuleState[] {
    if (text === undefined) return this.#initialOf(rules);
    const known = this.#read.get(device);
    if (known !== undefined && known.text === text && known.rules === rules) return known.states;
    const entries = new Map(decodeStates(text).map((entry) => [entry.ruleKey, entry]));
    const states = rules.map(({ rule }) => {
      const entry = entries.get(rule.key);
      return entry?.revision === rule.revision ? entry.state : initialState;
    });
    this.#remember(device, { text, rules, states });
    return states;
  }

  /** The text of states. `time`: the device's own. */
  keep(
    device: DeviceKey,
    rules: readonly CompiledRule[],
    states: readonly RuleState[],
    time: number,
    now: number,
  ): string | undefined {
    const kept: StateEntry[] = [];
    const after = states.map((state, at) => {
      const compiled = rules[at];
      if (compiled === undefined || isForgettable(compiled, state, compiled.clock === "arrival" ? now : time, now))
        return initialState;
      kept.push({ ruleKey: compiled.rule.key, revision: compiled.rule.revision, state });
      return state;
    });
    const text = encodeStates(kept);
    this.#remember(device, { text, rules, states: after });
    return text;
  }

  forget(device: DeviceKey): void {
    this.#read.delete(device);
  }

  #initialOf(rules: readonly CompiledRule[]): readonly RuleState[] {
    const known = this.#initial.get(rules);
    if (known !== undefined) return known;
    const states = rules.map(() => initialState);
    this.#initial.set(rules, states);
    return states;
  }

  #remember(device: DeviceKey, read: Read): void {
    if (this.#read.size > mostDevices / 2) this.#read.delete(device);
    this.#read.set(device, read);
    if (this.#read.size <= mostDevices) return;
    for (const oldest of this.#read.keys()) {
      this.#read.delete(oldest);
      break;
    }
  }
}
