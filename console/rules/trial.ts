import type { components } from "../api/schema.ts";

/** What a trial of a rule has found so far. */
export interface TrialState {
  readonly progress: number;
  readonly alerts: readonly components["schemas"]["Alert"][];
  readonly positions: number;
  /** Why it ended, where it failed. */
  readonly error?: string;
  readonly done: boolean;
}

/** The first state. */
export const trialBegins: TrialState = { progress: 0, alerts: [], positions: 0, done: false };

/** More alerts than these are counted and not shown. */
const mostShown = 1000;

/** The state after a line of the answer. */
export function afterLine(state: TrialState, line: components["schemas"]["TrialLine"]): TrialState {
  if ("alert" in line) return { ...state, alerts: [...state.alerts, line.alert].slice(0, mostShown) };
  if ("progress" in line) return { ...state, progress: line.progress, positions: line.positions };
  if ("done" in line) return { ...state, progress: 1, positions: line.positions, done: true };
  return { ...state, error: line.error, done: true };
}

/** The lines of an answer as they come. */
export async function* linesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    yield* lines.filter((line) => line !== "");
  }
  if (rest !== "") yield rest;
}
