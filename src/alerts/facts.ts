import type { AlertFacts } from "../model/alert.ts";

/** Evidence as it is stored: the values of an object that are text, finite number or truth. */
export function factsFrom(value: object): AlertFacts {
  const facts: Record<string, string | number | boolean> = {};
  // JSON has a text for numbers that no double holds, and none to write them back.
  for (const [name, fact] of Object.entries(value))
    if (typeof fact === "string" || (typeof fact === "number" && Number.isFinite(fact)) || typeof fact === "boolean")
      Object.defineProperty(facts, name, { value: fact, enumerable: true, configurable: true, writable: true });
  return facts;
}
