import { Option } from "commander";
import { CliError } from "./exit.ts";
import { parseMoment } from "./moment.ts";
import { plain } from "./text.ts";

/** Options of commands that ask about a range of time. */
export interface RangeOptions {
  readonly from: string;
  readonly to: string;
}

/** `--from`, a day ago unless said. */
export function fromOption(): Option {
  const forms = "start, inclusive: RFC 3339 (UTC where it has no offset), or how long ago: 90m, 2h, 7d";
  return new Option("--from <time>", forms).default("24h");
}

/** `--to`, now unless said. */
export function toOption(): Option {
  return new Option("--to <time>", "end, inclusive; the same forms, or now").default("now");
}

/** The range as the API takes it. Throws a CliError where the options name none. */
export function rangeOf({ from, to }: RangeOptions, now: number): { readonly from: string; readonly to: string } {
  const [start, end] = [moment("--from", from, now), moment("--to", to, now)];
  if (start > end) throw new CliError("usage", "--from is after --to");
  return { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
}

function moment(option: string, text: string, now: number): number {
  const time = parseMoment(text, now);
  if (time !== undefined && time >= 0 && time < 8.64e15) return time;
  const forms = "Give a time like 2026-11-21T10:00:00Z, or how long ago: 90m, 2h, 7d.";
  throw new CliError("usage", `${option}: not a time: ${plain(text)}`, forms);
}
