import { applyPatch, type Operation } from "rfc6902";
import type { PatchRequest } from "../contract/patch.ts";
import { ApiError } from "../errors/catalogue.ts";
import { shownText } from "./bodies.ts";
import { jsonEqual } from "./json-equal.ts";

type Json = { [name: string]: unknown };
type Step = PatchRequest[number];

/** Tokens that reach into JavaScript instead of the document. */
const forbidden: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/**
 * The document after a JSON Patch (RFC 6902): all of it or, with an ApiError, nothing. The document given is not
 * changed. Only fields in `writable` can be targets; the others can be read by `test` and `copy`. What the result must
 * be is for the caller to check.
 * @throws ApiError `invalidPatch` (malformed, unknown path, read-only target) or `patchTestFailed`
 */
export function patched(document: Readonly<Json>, steps: PatchRequest, writable: ReadonlySet<string>): Json {
  const result: Json = structuredClone(document);
  const known = new Set([...writable, ...Object.keys(document)]);
  let copied = 0;
  for (const [index, step] of steps.entries()) {
    const where = `body/${index}`;
    const operation = operationOf(step, where);
    for (const name of ["path", "from"] as const) {
      const problem = name in operation ? problemOf(result, operation, name, writable, known) : undefined;
      if (problem !== undefined) throw new ApiError("invalidPatch", [`${where}/${name}: ${problem}`]);
    }
    copied += copiedSize(result, operation, mostCopied - copied);
    if (copied >= mostCopied) throw new ApiError("invalidPatch", [`${where}: copies too much`]);
    apply(result, operation, where);
  }
  return result;
}

/**
 * Copies can double a document with each step, and put one long text into it a thousand times. So what one patch may
 * copy in all is bounded, to what the largest body could bring: checking the result goes through each character of it.
 */
const mostCopied = 1_048_576;
/**
 * What a value counts beside its characters, so that 20,000 small ones may be copied: far above any record's fields.
 */
const sizeOfValue = 52;

/** What a copy adds: values and characters, counted up to `most`. */
function copiedSize(document: Json, operation: Operation, most: number): number {
  if (operation.op !== "copy") return 0;
  const waiting = [valueAt(document, operation.from)];
  let size = 0;
  while (waiting.length > 0 && size < most) {
    const next = waiting.pop();
    size += sizeOfValue + (typeof next === "string" ? next.length : 0);
    if (typeof next !== "object" || next === null) continue;
    for (const [name, value] of Object.entries(next)) {
      size += name.length;
      waiting.push(value);
    }
  }
  return size;
}

/** The value that a pointer leads to; undefined: none. */
function valueAt(document: Json, pointer: string): unknown {
  let value: unknown = document;
  for (const token of tokensOf(pointer)) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Object.getOwnPropertyDescriptor(value, token)?.value;
  }
  return value;
}

/** A step as the library's operation. */
function operationOf({ op, path, from, ...rest }: Step, where: string): Operation {
  if (op === "remove") return { op, path };
  if (op === "move" || op === "copy") {
    if (from === undefined) throw new ApiError("invalidPatch", [`${where}/from: is required`]);
    return { op, path, from };
  }
  if (!("value" in rest)) throw new ApiError("invalidPatch", [`${where}/value: is required`]);
  return { op, path, value: rest.value };
}

function apply(document: Json, operation: Operation, where: string): void {
  // The library compares by an edit distance, which takes quadratic time and memory; equal is all that is asked.
  if (operation.op === "test") {
    if (!jsonEqual(valueAt(document, operation.path), operation.value))
      throw new ApiError("patchTestFailed", [
        `${where}: ${shownText(operation.path) || "the document"} has another value`,
      ]);
    return;
  }
  let failure: Error | null | undefined;
  try {
    [failure] = applyPatch(document, [operation]);
  } catch {
    throw new ApiError("invalidPatch", [`${where}: can't be applied`]);
  }
  if (failure !== null && failure !== undefined)
    throw new ApiError("invalidPatch", [`${where}: there is nothing at this path`]);
}

/** What is wrong with one pointer of an operation; undefined: nothing that can be seen before it is applied. */
function problemOf(
  document: Json,
  operation: Operation,
  name: "path" | "from",
  writable: ReadonlySet<string>,
  known: ReadonlySet<string>,
): string | undefined {
  const { op } = operation;
  const pointer = name === "path" ? operation.path : "from" in operation ? operation.from : "";
  if (!/^(?:\/(?:[^~/]|~[01])*)*$/.test(pointer)) return "must be a JSON Pointer";
  const tokens = tokensOf(pointer);
  const field = tokens[0];
  if (field !== undefined && (!known.has(field) || tokens.some((token) => forbidden.has(token))))
    return "names no field";
  const changes = name === "path" ? op !== "test" : op === "move";
  if (changes && (field === undefined || !writable.has(field))) return "can't be changed";
  const inserts = name === "path" && (op === "add" || op === "move" || op === "copy");
  return problemInArray(document, tokens, inserts, op === "move" && name === "path" ? tokensOf(operation.from) : []);
}

function tokensOf(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/**
 * The library takes any text for an index of an array, and clamps one that is too high; RFC 6901 and 6902 do neither.
 * `taken`: what a move takes out before it inserts, so an array that gives and takes is shorter by one.
 */
function problemInArray(document: Json, tokens: readonly string[], inserts: boolean, taken: readonly string[]) {
  let value: unknown = document;
  for (const [depth, token] of tokens.entries()) {
    if (Array.isArray(value)) {
      const place = inserts && depth === tokens.length - 1;
      if (token === "-") return place ? undefined : "there is nothing at this index";
      if (!/^(?:0|[1-9]\d*)$/.test(token)) return "must have a number as index";
      const same = taken.length === tokens.length && taken.slice(0, -1).join("/") === tokens.slice(0, -1).join("/");
      if (Number(token) >= value.length + (place ? 1 : 0) - (same ? 1 : 0)) return "there is nothing at this index";
      value = value[Number(token)];
    } else if (typeof value === "object" && value !== null)
      value = Object.getOwnPropertyDescriptor(value, token)?.value;
    else return "there is nothing at this path";
  }
  return undefined;
}
