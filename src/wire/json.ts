import type { Attributes } from "../model/effects.ts";
import { attributeName, isMeasure, keepAttribute, numberOf, truthOf } from "./app-report.ts";

/*
 * Values of JSON bodies, which phone apps write as they like: numbers and truth values may come as texts.
 */

/** An object of a JSON body. */
export type JsonObject = { readonly [name: string]: unknown };

/** The body that was read last: detection, a protocol's `classify` and its handlers all read the same one in a row. */
let last: { readonly body: Uint8Array; readonly root: JsonObject | undefined } | undefined;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The object that a JSON body is; undefined: it is none. The same array is read once in a row: no message is changed.
 */
export function parseJson(body: Uint8Array): JsonObject | undefined {
  if (last?.body !== body) last = { body, root: readJson(body) };
  return last.root;
}

function readJson(body: Uint8Array): JsonObject | undefined {
  try {
    const root: unknown = JSON.parse(utf8.decode(body));
    return isObject(root) ? root : undefined;
  } catch {
    return undefined;
  }
}

/** What apps say as attributes; an empty text says nothing. */
export function attributesOf(entries: readonly (readonly [string, unknown])[]): Attributes {
  const attributes = new Map<string, string | number | boolean>();
  for (const [name, value] of entries) {
    const kept = attributeOf(value);
    if (kept !== undefined && kept !== "") keepAttribute(attributes, attributeName(name.toWellFormed()), kept);
  }
  return Object.fromEntries(attributes);
}

function attributeOf(value: unknown): string | number | boolean | undefined {
  if (typeof value === "number" && isMeasure(value)) return value + 0; // no -0
  if (typeof value === "boolean") return value;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : textOf(value);
}

/** Whether a value is there; null says that it is not. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** A number, also one that the app sends as text. */
export function numeric(value: unknown): number | undefined {
  if (typeof value === "string") return numberOf(value);
  return typeof value === "number" && isMeasure(value) ? value + 0 : undefined;
}

/** A truth value, also one that the app sends as text or as a number. */
export function truth(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : truthOf(textOf(value) ?? "");
}

/** Whether a value is an object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value, or an empty object where it is none. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** A text, also one that the app sends as a number. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  return typeof value === "string" ? value.toWellFormed() : undefined;
}
