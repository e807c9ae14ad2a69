import { ipv6Pattern } from "../model/network.ts";

/*
 * Forms of the texts that bodies hold, as patterns of JSON Schema. `\x00` is written so that the expressions of other languages read it too. Each is decided in one
 * pass over the text, however long.
 */

/** No U+0000: other programs end a text there. */
export const anyText = "^[^\\x00]*$";
/** Something to read in it. */
export const notBlank = "^\\s*[^\\s\\x00][^\\x00]*$";

const atom = "[A-Za-z0-9_!#$%&'*+/=?^`{|}~-]+";
const label = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
/** Longest e-mail address that mail can be sent to (RFC 5321, 4.5.3.1). */
export const longestEmail = 254;
/**
 * An e-mail address: RFC 5322's dot-atom form, at most 64 characters before the @ (RFC 5321, 4.5.3.1), at a host name of RFC 1123 with two labels at least. Quoted names
 * and addresses of hosts by number are none.
 */
export const emailPattern = `^(?=[^@]{1,64}@)${atom}(?:\\.${atom})*@(?:${label}\\.)+${label}$`;

const octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
const hostName = "(?:[A-Za-z0-9_-]+\\.)*[A-Za-z_][A-Za-z0-9_-]*\\.?";
const port = "(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[0-9]{1,4})";
/** An http or https URL without user name and password; the host's name as DNS has it. */
export const webUrl = `^[Hh][Tt][Tt][Pp][Ss]?://(?:${hostName}|(?:${octet}\\.){3}${octet}|\\[${ipv6Pattern}\\])(?::${port})?(?:[/?#][^\\s\\x00]*)?$`;

/** Hexadecimal bytes, one at least, with spaces and hyphens anywhere. */
export const hexBytes = "^[ -]*(?:[0-9A-Fa-f][ -]*[0-9A-Fa-f][ -]*)+$";
/** Base64 with its padding (RFC 4648, 4), one byte at least. */
export const base64Bytes =
  "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)$";

/** RFC 6901. */
export const jsonPointer = "^(?:/(?:[^~/\\x00]|~[01])*)*$";
/** What leads on in a list: letters, digits, - and _. */
export const cursorPattern = "^[A-Za-z0-9_-]+$";

/** What an answer says of a text that has not the form of a pattern. */
const sentences: Readonly<Record<string, string>> = {
  [anyText]: "must not hold NUL (U+0000)",
  [jsonPointer]: "must be a JSON Pointer",
};

/** What an answer says of a text that a pattern refuses; undefined: the pattern itself says it best. */
export function sentenceOf(pattern: unknown): string | undefined {
  return typeof pattern === "string" ? sentences[pattern] : undefined;
}

/**
 * What the document says of a value beside what the validator checks. The code checks it: with better words, together with what else is wrong,
 * or only where a field changes. A name stands for a form that the code has as a list.
 */
export interface Documented {
  readonly documented?: object | "country" | "timeZone";
}
