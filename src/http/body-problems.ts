import { type Steps, stepValues } from "../model/steps.ts";
import { fixedLimits } from "./limits.ts";

/** An object or array of a body, and where it stands: as member `name` of another one. */
interface Place {
  readonly value: object;
  readonly parent: Place | undefined;
  readonly name: string | number;
  readonly depth: number;
}

/**
 * Texts with escapes of surrogates, and names that are refused, as they are or written with escapes. All that is
 * refused matches.
 */
const suspicious = /\\u(?:00|[dD][89a-fA-F])|__proto__|constructor/;

/**
 * Why a JSON body is refused whatever its schema says, and where (at most so many as an answer shows): names that reach
 * for JavaScript's prototypes, and texts with half of a surrogate pair, which a store or another program would change
 * in silence. (NUL is the schemas' matter: what nobody keeps may hold it.) `text` is what the body was parsed from;
 * most bodies pass by it alone.
 */
export function* bodyProblems(body: unknown, text: string): Steps<readonly string[]> {
  if (!suspicious.test(text)) return [];
  const problems: string[] = [];
  const places: Place[] = [];

  function look(value: unknown, parent: Place | undefined, name: string | number): void {
    if (problems.length === fixedLimits.details) return;
    const problem = (typeof name === "string" ? problemOfName(name, value) : undefined) ?? problemOfText(value);
    if (problem !== undefined) problems.push(`body${shown(whereOf(parent, name))}: ${problem}`);
    if (typeof value === "object" && value !== null)
      places.push({ value, parent, name, depth: (parent?.depth ?? -1) + 1 });
  }

  look(body, undefined, 0);
  // Not recursive, for a body may be nested deeper than the stack: what is found is appended to what is gone through.
  let seen = 0;
  for (const place of places) {
    for (const [name, item] of membersOf(place.value)) {
      look(item, place, name);
      if (++seen % stepValues === 0) yield;
    }
    if (problems.length === fixedLimits.details) break;
  }
  return problems;
}

function membersOf(value: object): Iterable<[string | number, unknown]> {
  return Array.isArray(value) ? value.entries() : Object.entries(value);
}

/** The JSON Pointer of a member, with as many of its steps as an answer shows. */
function whereOf(parent: Place | undefined, name: string | number): string {
  const steps: string[] = [];
  for (let [place, step] = [parent, name]; place !== undefined; { parent: place, name: step } = place)
    if (place.depth <= longest) steps.push(stepTo("", String(step)));
  return steps.toReversed().join("");
}

function problemOfName(name: string, value: unknown): string | undefined {
  if (name === "__proto__") return "no field may have this name";
  if (name === "constructor" && typeof value === "object" && value !== null && Object.hasOwn(value, "prototype"))
    return "must not hold a field named prototype";
  const problem = problemOfText(name);
  return problem === undefined ? undefined : `its name ${problem}`;
}

function problemOfText(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  return text.isWellFormed() ? undefined : "must not hold half of a surrogate pair";
}

/** The JSON Pointer of a member. */
export function stepTo(where: string, name: string): string {
  return `${where}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Characters of a pointer that an answer shows: names of a body may be as long as the body. */
const longest = 200;

/** A pointer as an answer shows it: cut where it is very long; what a body may not hold is written as in JSON. */
export function shown(where: string): string {
  const cut = where.length > longest ? `${where.slice(0, longest).replace(/[\ud800-\udbff]$/, "")}…` : where;
  return cut.replace(/\0|\p{Surrogate}/gu, (part) => `\\u${part.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
