import { type Steps, stepValues } from "../model/steps.ts";

/**
 * Whether some object of a JSON text has the same field twice (RFC 8259, section 4: readers differ in what they make of
 * it). Parsing keeps only the last one. So a text with a repeated field has more colons than the parsed value has
 * fields. `colons`: how many the text has outside of strings. `value`: what the text was parsed to.
 */
export function* hasRepeatedField(colons: number, value: unknown): Steps<boolean> {
  let count = 0;
  let seen = 0;
  // Not recursive, for a body may be nested deeply; what is no object or array is not noted, for a body may hold half a
  // million of them.
  const waiting: object[] = [];
  const note = (item: unknown) => {
    if (typeof item === "object" && item !== null) waiting.push(item);
  };
  note(value);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const items: readonly unknown[] = Array.isArray(next) ? next : Object.values(next);
    if (items !== next) count += items.length;
    for (let index = 0; index < items.length; index++) note(items[index]);
    seen += items.length + 1;
    if (seen < stepValues) continue;
    seen = 0;
    yield;
  }
  return count !== colons;
}
