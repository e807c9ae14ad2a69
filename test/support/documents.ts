import assert from "node:assert/strict";

/** A block between fences of a page: ```` ```sh no-run ```` has the language `sh` and the tag `no-run`. */
export interface Block {
  readonly language: string;
  readonly tag: string;
  readonly text: string;
}

/** All blocks of a page, in order. */
export function blocksOf(page: string): readonly Block[] {
  return [...page.matchAll(/^ *```(\w*) *([\w-]*)\n(.*?)^ *```$/gms)].map(([, language = "", tag = "", text = ""]) => ({
    language,
    tag,
    text: text.trimEnd(),
  }));
}

const id = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const times = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z/g;
/** The longest time ahead that a page shows is an hour. */
const aroundNow = 2 * 3_600_000;

/** What varies in a page's answers: identifiers, which stay the same within the page. */
export class Seen {
  readonly #ids = new Map<string, string>();

  /** Whether an identifier may stand for the shown one. */
  stands(shown: string, actual: string): boolean {
    const known = this.#ids.get(shown) ?? actual;
    this.#ids.set(shown, known);
    return known === actual;
  }
}

/**
 * Fails unless commands printed what a block shows. JSON is compared value by value: another identifier may stand for a
 * shown one, a time around now for a shown time, and anything for `...`. Of headers, the shown ones are compared, but
 * for their numbers. A text is the end of what was printed.
 */
export function answersAs({ language, text }: Block, printed: string, seen: Seen): void {
  if (language === "json") compare(JSON.parse(text), lastJson(printed), seen, "");
  else if (language === "jsonl") compare(linesOf(text), linesOf(printed), seen, "");
  else if (language === "http") headersAs(text, printed);
  else textAs(text, printed);
}

/** The last JSON object of an output without line ends. */
function lastJson(printed: string): unknown {
  return JSON.parse(printed.slice(printed.lastIndexOf('{"success":')));
}

const linesOf = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

function compare(shown: unknown, actual: unknown, seen: Seen, place: string): void {
  if (typeof shown === "string" && typeof actual === "string")
    assert.ok(sameText(shown, actual, seen), `${place}: ${actual} where ${shown} is shown`);
  else if (isObject(shown) && isObject(actual)) {
    assert.deepEqual(Object.keys(actual).toSorted(), Object.keys(shown).toSorted(), `fields of ${place}`);
    for (const [key, value] of Object.entries(shown)) compare(value, Reflect.get(actual, key), seen, `${place}/${key}`);
  } else assert.deepEqual(actual, shown, place);
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function sameText(shown: string, actual: string, seen: Seen): boolean {
  if (id.test(shown)) return id.test(actual) && seen.stands(shown, actual);
  const pattern = RegExp.escape(shown.replace(times, "(time)")).replaceAll("\\.\\.\\.", ".+");
  return shown === actual || (nowIn(actual) && new RegExp(`^${pattern}$`).test(actual.replace(times, "(time)")));
}

/** Whether all times of a text are around now. */
function nowIn(text: string): boolean {
  return [...text.matchAll(times)].every(([time]) => Math.abs(Date.parse(time) - Date.now()) < aroundNow);
}

function headersAs(shown: string, printed: string): void {
  const [head = ""] = printed.replaceAll("\r", "").split("\n\n", 1);
  const [status, ...headers] = shown.split("\n");
  assert.equal(head.split("\n", 1)[0], status);
  const form = (line: string) =>
    line
      .toLowerCase()
      .replace(/^(x-request-id): .*/, "$1")
      .replace(/\d+/g, "0");
  const actual = head.split("\n").map(form);
  for (const header of headers) assert.ok(actual.includes(form(header)), `${header} is not in:\n${head}`);
}

function textAs(shown: string, printed: string): void {
  const pattern = RegExp.escape(shown.replace(times, "(time)")).replaceAll("\\.\\.\\.", ".+");
  assert.match(printed.trimEnd().replace(times, "(time)"), new RegExp(`${pattern}$`));
}
