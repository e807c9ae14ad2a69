import { deviceIdPattern } from "../model/device.ts";
import { ipv6Pattern, networkPattern } from "../model/network.ts";

/*
 * Forms of the texts that bodies hold, as patterns of JSON Schema. `\x00` is written so that the expressions of other
 * languages read it too. Each is decided in one pass over the text, however long.
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
 * An e-mail address: RFC 5322's dot-atom form, at most 64 characters before the @ (RFC 5321, 4.5.3.1), at a host name
 * of RFC 1123 with two labels at least. Quoted names and addresses of hosts by number are none.
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

/** What leads on in a list, as texts of a query: 1 to 10,000. */
export const pageLimit = "^([1-9][0-9]{0,3}|10000)$";
/** As `pageLimit`, 1 to 1,000. */
export const shortLimit = "^([1-9][0-9]{0,2}|1000)$";
/** A number of days, as a text of a query. */
export const dayCount = "^[1-9][0-9]{0,4}$";
/** A time of the day, `HH:MM`. */
export const timeOfDay = "^([01][0-9]|2[0-3]):[0-5][0-9]$";
const phone = "(?:[ ().-]*\\+)?(?:[ ().-]*[0-9]){3,20}[ ().-]*";
/** A phone number that messages go to, with its country code after a +. */
export const phoneNumber = `^${phone}$`;
/** Who gets notices: an e-mail address or a phone number. */
export const recipientForm = `^(?:${emailPattern.slice(1, -1)}|${phone})$`;
/** The phone number of a SIM, as its operator writes it. */
export const simNumber = "^[0-9+*#() ./-]{1,32}$";
/** Printable ASCII. */
export const printable = "^[!-~]*$";
/** A key that names a request: printable ASCII. */
export const requestKey = "^[!-~]{1,128}$";
/** A chat of Telegram. */
export const telegramChat = "^(?:-?[1-9][0-9]{0,18}|@[A-Za-z][A-Za-z0-9_]{3,63})$";
/** The token of a bot of Telegram. */
export const telegramToken = "^[0-9]{1,20}:[A-Za-z0-9_-]{20,100}$";
/** The id of an account. */
export const accountIdForm = "^[A-Za-z0-9-]{1,64}$";
/** The code that a recipient was sent. */
export const recipientCode = "^(?: ?[0-9]){8}$";
/** Devices of a query: at most this many. */
export const mostDevicesAsked = 100;
/** Ids of devices, separated by commas. */
export const deviceIds = `^[A-Za-z0-9._:@+/-]{1,64}(?:,[A-Za-z0-9._:@+/-]{1,64}){0,${mostDevicesAsked - 1}}$`;
/** Ids of groups, separated by commas. */
export const groupIds = `^[A-Za-z0-9_-]{1,64}(?:,[A-Za-z0-9_-]{1,64}){0,${mostDevicesAsked - 1}}$`;
const degrees = "-?[0-9]{1,3}(?:\\.[0-9]{1,15})?";
/** A rectangle of the map: west, south, east, north. */
export const boxForm = `^${degrees}(?:,${degrees}){3}$`;
const kind = "(?:location|alert|status|command)";
/** Kinds of events, separated by commas. */
export const kindsForm = `^${kind}(?:,${kind}){0,3}$`;

/** What an answer says of a text that has not the form of a pattern: of every pattern that the validator checks. */
const sentences: Readonly<Record<string, string>> = {
  [anyText]: "must not hold NUL (U+0000)",
  [jsonPointer]: "must be a JSON Pointer",
  [cursorPattern]: "must be letters, digits, - and _, as in the nextCursor of an answer",
  [pageLimit]: "must be a whole number from 1 to 10000",
  [shortLimit]: "must be a whole number from 1 to 1000",
  [dayCount]: "must be a whole number from 1 to 99999",
  [timeOfDay]: "must be a time of the day, such as 07:30",
  [phoneNumber]: "must be a phone number, such as +573001234567",
  [recipientForm]: "must be an e-mail address or a phone number, such as +573001234567",
  [simNumber]: "must be a phone number of 1 to 32 digits and the signs + * # ( ) . / -",
  [printable]: "must be letters, digits and signs of ASCII, without spaces",
  [requestKey]: "must be 1 to 128 letters, digits and signs of ASCII, without spaces",
  [telegramChat]: "must be the id of a Telegram chat, such as -1001234567890, or the @name of a public channel",
  [telegramToken]: "must be the token of a Telegram bot, as @BotFather gave it",
  [accountIdForm]: "must be the id of an account",
  [recipientCode]: "must be the 8 digits of the message",
  [deviceIds]: `must be ids of devices, ${mostDevicesAsked} at most, separated by commas`,
  [groupIds]: `must be ids of groups, ${mostDevicesAsked} at most, separated by commas`,
  [boxForm]: "must be four numbers, separated by commas: west, south, east and north, in degrees",
  [kindsForm]: "must be some of location, alert, status and command, separated by commas",
  [deviceIdPattern]: "must be 1 to 64 of letters, digits, - _ . : @ + / and neither . nor ..",
  [networkPattern]: "must be an IPv4 or IPv6 address or network, such as 203.0.113.0/24",
};

/** What an answer says of a text that a pattern refuses. */
export function sentenceOf(pattern: unknown): string {
  return (typeof pattern === "string" ? sentences[pattern] : undefined) ?? "has not the form that /docs describes";
}

/**
 * What the document says of a value beside what the validator checks. The code checks it: with better words, together
 * with what else is wrong, or only where a field changes. A name stands for a form that the code has as a list.
 */
export interface Documented {
  readonly documented?: object | "country" | "timeZone";
}
