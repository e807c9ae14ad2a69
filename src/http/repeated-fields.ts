import { type Steps, stepValues } from "./steps.ts";

/**
 * Whether some object of a JSON text has the same field twice (RFC 8259, section 4: what readers make of it differs). Parsing keeps the last one, so the
 * text then has more colons outside of strings than the value has fields. `value` is what a text with so many colons was parsed to.
 */
export function* hasRepeatedField(colons: number, value: unknown): Steps<boolean> {
  let count = 0;
  let seen = 0;
  // Not recursive, for a body may be nested deeply; what is no object or array is not noted, for a body may hold half a million of them.
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
