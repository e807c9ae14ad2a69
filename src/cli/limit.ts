import { InvalidArgumentError } from "commander";

/** Entries in one answer of the API. */
const pageSize = 1000;

/** Reads `--limit` of a list whose newest entries one answer holds. */
export function parsePageLimit(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= pageSize) return Number(text);
  throw new InvalidArgumentError(`It must be an integer from 1 to ${pageSize}.`);
}
