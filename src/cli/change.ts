import { InvalidArgumentError } from "commander";
import type { Answer, ApiClient } from "./client.ts";
import { CliError } from "./exit.ts";
import { isRecord, plain } from "./text.ts";

/** A step of a JSON Patch. */
export interface Step {
  readonly op: "add" | "test";
  readonly path: string;
  readonly value: unknown;
}

/** Options that change texts by name. */
export interface TagOptions {
  readonly tag: Readonly<Record<string, string>>;
  readonly untag: readonly string[];
}

/** Sets the fields that are given; a field that `unset` names becomes null, which is its default. */
export function setSteps(fields: Readonly<Record<string, unknown>>, unset: readonly string[] = []): readonly Step[] {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const both = given.find(([name]) => unset.includes(name));
  if (both) throw new CliError("usage", `${both[0]} is both set and unset`);
  return [...given, ...unset.map((name): [string, null] => [name, null])].map(([name, value]) => ({
    op: "add",
    path: `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
    value,
  }));
}

/** Makes a new value of the present one; what another has changed meanwhile stops it. */
export function changeSteps(present: Answer, field: string, change: (value: unknown) => unknown): readonly Step[] {
  const path = `/${field}`;
  const value = present[field];
  return [
    { op: "test", path, value },
    { op: "add", path, value: change(value) },
  ];
}

/** The steps that change tags; none where no option asks for it. `read` gives what is there. */
export async function tagSteps({ tag, untag }: TagOptions, read: () => Promise<Answer>): Promise<readonly Step[]> {
  if (Object.keys(tag).length === 0 && untag.length === 0) return [];
  return changeSteps(await read(), "tags", (tags) => {
    const merged = { ...(isRecord(tags) ? tags : {}), ...tag };
    return Object.fromEntries(Object.entries(merged).filter(([name]) => !untag.includes(name)));
  });
}

/** The steps that take entries into a list of texts and out of it; none where none is named. */
export async function listSteps(
  field: string,
  { add, remove }: { readonly add: readonly string[]; readonly remove: readonly string[] },
  read: () => Promise<Answer>,
): Promise<readonly Step[]> {
  if (add.length === 0 && remove.length === 0) return [];
  return changeSteps(await read(), field, (list) => {
    const present = Array.isArray(list) ? list.map(String) : [];
    return [...new Set([...present, ...add])].filter((entry) => !remove.includes(entry));
  });
}

/** Sends a patch; a command that changes nothing is a mistake. */
export async function patch(client: ApiClient, path: string, steps: readonly Step[]): Promise<Answer> {
  if (steps.length === 0) throw new CliError("usage", "nothing to change", "Add --help to see what can be set.");
  return await client.call("PATCH", path, steps);
}

/** Gathers a repeated `key=value` option. */
export function collectTag(text: string, tags: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It must be key=value.");
  return { ...tags, [text.slice(0, at)]: text.slice(at + 1) };
}

/** Gathers a repeated option. */
export function collect(text: string, list: readonly string[]): readonly string[] {
  return [...list, text];
}

/** Reads an option that is a whole number. */
export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}

/** The one of these that has the given id, or else the given name (or address, without regard to case). */
export function named(
  kind: "account" | "group" | "rule" | "user" | "zone",
  all: readonly Answer[],
  given: string,
): { readonly id: string } & Answer {
  const key = kind === "user" ? "email" : "name";
  const same = (value: unknown) => typeof value === "string" && value.toLowerCase() === given.toLowerCase();
  const byId = all.filter(({ id }) => id === given);
  const found = byId.length > 0 ? byId : all.filter((each) => same(each[key]));
  const [first] = found;
  if (first === undefined || typeof first.id !== "string")
    throw new CliError("notFound", `${kind} not found: ${plain(given)}`, `\`waybeam ${kind} list\` shows them.`);
  if (found.length > 1) throw new CliError("usage", `${found.length} are named ${plain(given)}`, "Give the id.");
  return { ...first, id: first.id };
}
