import Type, { type TSchemaOptions, type TUnsafe } from "typebox";
import { anyText, type Documented, notBlank } from "./forms.ts";

/**
 * A reference to the schema that the server knows by this `$id`; it stands as one component in the OpenAPI document.
 */
export function reference<T>(id: string): TUnsafe<T> {
  return Type.Unsafe<T>({ $ref: `${id}#` });
}

/** Text or null, as one type with two names: its errors read better than those of a union. */
export function NullableText(options: TSchemaOptions = {}): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({ ...options, type: ["string", "null"] });
}

/** A text that a caller gives. */
export function GivenText(options: TSchemaOptions & Documented = {}) {
  return Type.String({ pattern: anyText, ...options });
}

/** A text that a caller gives, or null. */
export function GivenTextOrNull(options: TSchemaOptions & Documented = {}): TUnsafe<string | null> {
  return NullableText({ pattern: anyText, ...options });
}

/** A name that a caller gives to something. */
export function GivenName() {
  return GivenText({ minLength: 1, maxLength: 256, documented: { pattern: notBlank } });
}

/** The texts by name that a caller gives to a record for its own use, or null. */
export function GivenTags(): TUnsafe<Readonly<Record<string, string>> | null> {
  return NullableTexts({
    additionalProperties: { type: "string", maxLength: 1024, pattern: anyText },
    propertyNames: { type: "string", maxLength: 128, pattern: anyText },
    maxProperties: 100,
    description: "Texts by name.",
  });
}

/**
 * An identifier in a path. What has not its form names nothing, so it is answered like any other that is unknown: the
 * validator lets all of them pass.
 */
export function PathId(options: TSchemaOptions = {}) {
  return Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$", ...options });
}

/** Number or null. */
export function NullableNumber(options: TSchemaOptions = {}): TUnsafe<number | null> {
  return Type.Unsafe<number | null>({ ...options, type: ["number", "null"] });
}

/** Its year is none before 0001. */
const dated = { documented: { pattern: "^(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])-" } };

/** A moment: RFC 3339; in a body also without offset, which is UTC (see time.ts). */
export function Instant(options: TSchemaOptions = {}) {
  return Type.String({ format: "date-time", ...dated, examples: ["2026-11-21T10:29:00.000Z"], ...options });
}

/** A moment or null. */
export function NullableInstant(options: TSchemaOptions = {}): TUnsafe<string | null> {
  return NullableText({ format: "date-time", ...dated, examples: ["2027-12-31T00:00:00.000Z"], ...options });
}

/** Texts by name. (Not `Type.Record`: its pattern has no place for names with a line feed.) */
export function Texts(options: TSchemaOptions = {}): TUnsafe<Readonly<Record<string, string>>> {
  return Type.Unsafe<Readonly<Record<string, string>>>({
    ...options,
    type: "object",
    additionalProperties: { type: "string" },
  });
}

/** Integer or null. */
export function NullableInteger(options: TSchemaOptions = {}): TUnsafe<number | null> {
  return Type.Unsafe<number | null>({ ...options, type: ["integer", "null"] });
}

/** True, false or null. */
export function NullableBoolean(options: TSchemaOptions = {}): TUnsafe<boolean | null> {
  return Type.Unsafe<boolean | null>({ ...options, type: ["boolean", "null"] });
}

/** List of texts, or null. */
export function NullableList(options: TSchemaOptions = {}): TUnsafe<readonly string[] | null> {
  return Type.Unsafe<readonly string[] | null>({ items: { type: "string" }, ...options, type: ["array", "null"] });
}

/** Texts by name, or null. */
export function NullableTexts(options: TSchemaOptions = {}): TUnsafe<Readonly<Record<string, string>> | null> {
  return Type.Unsafe<Readonly<Record<string, string>> | null>({
    additionalProperties: { type: "string" },
    ...options,
    type: ["object", "null"],
  });
}
