import type { Answer } from "./client.ts";
import type { Host } from "./host.ts";
import { columns, isRecord, pairs, plain, records } from "./text.ts";

/** What an answer holds beside its envelope. */
export function payloadOf(answer: Answer): Answer {
  const { success: _s, error: _e, apiUsage: _u, apiDailyUsage: _d, warnings: _w, ...payload } = answer;
  return payload;
}

/** Tells what the service accepted and takes for a mistake. */
export function tellWarnings(host: Host, { warnings }: Answer): void {
  if (Array.isArray(warnings)) for (const each of warnings) host.terminal.err(`warning: ${plain(each)}\n`);
}

/**
 * What every `add` says: people are told the name and the id of what was made; `--json` prints it as the API gives it.
 */
export async function tellAdded(host: Host, made: Answer, json: boolean | undefined): Promise<void> {
  if (json) return await printOne(host, made, true);
  host.terminal.err(`added ${plain(made.name)} (${plain(made.id)})\n`);
}

/** One object: JSON in one line, or its set fields one a line. */
export async function printOne(host: Host, value: Answer, json: boolean | undefined): Promise<void> {
  if (json) return await host.terminal.out(`${JSON.stringify(value)}\n`);
  const set = Object.entries(value).filter(([, field]) => field !== null && field !== "" && textOf(field) !== "");
  const width = Math.max(...set.map(([name]) => name.length));
  await host.terminal.out(set.map(([name, field]) => `${columns([name, textOf(field)], [width])}\n`).join(""));
}

/** JSON Lines, one object each. */
export async function printLines(host: Host, values: readonly unknown[]): Promise<void> {
  for (const each of values) await host.terminal.out(`${JSON.stringify(each)}\n`);
}

/** The objects under a name of an answer. */
export function listIn(answer: Answer, name: string): readonly Answer[] {
  return records(answer[name]);
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(plain).join(", ");
  return isRecord(value) ? pairs(value) : plain(value);
}
