import { fixedLimits } from "./limits.ts";

/** A value of a body and where it stands: a JSON Pointer, not yet fit to be shown. */
interface Place {
  readonly value: unknown;
  readonly where: string;
}

/** A text that has to be looked through: it may hold a name that is refused, as it is or written with escapes. */
const suspicious = /\\u00|__proto__|constructor/;

/**
 * Why a JSON body is refused whatever its schema says, and where (at most so many as an answer shows): names that reach for JavaScript's prototypes.
 * `text` is what the body was parsed from; most bodies pass by it alone.
 */
export function bodyProblems(body: unknown, text: string): readonly string[] {
  if (!suspicious.test(text)) return [];
  const problems: string[] = [];
  const waiting: Place[] = [{ value: body, where: "" }];
  // Not recursive: a body may be nested deeper than the stack.
  for (let next = waiting.pop(); next !== undefined && problems.length < fixedLimits.details; next = waiting.pop()) {
    const { value, where } = next;
    if (typeof value !== "object" || value === null) continue;
    const entries = Object.entries(value).map(([name, item]) => ({ name, value: item, where: stepTo(where, name) }));
    for (const entry of entries) {
      const problem = Array.isArray(value) ? undefined : problemOfName(entry.name, entry.value);
      if (problem !== undefined) problems.push(`body${shown(entry.where)}: ${problem}`);
    }
    for (const entry of entries.toReversed()) waiting.push(entry);
  }
  return problems.slice(0, fixedLimits.details);
}

function problemOfName(name: string, value: unknown): string | undefined {
  if (name === "__proto__") return "no field may have this name";
  if (name === "constructor" && typeof value === "object" && value !== null && Object.hasOwn(value, "prototype"))
    return "must not hold a field named prototype";
  return undefined;
}

/** The JSON Pointer of a member. */
export function stepTo(where: string, name: string): string {
  return `${where}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Characters of a pointer that an answer shows: names of a body may be as long as the body. */
const longest = 200;

/** A pointer as an answer shows it: cut where it is very long. */
export function shown(where: string): string {
  return where.length > longest ? `${where.slice(0, longest)}…` : where;
}
