import { crc16Xmodem, xor8 } from "../../wire/checksums.ts";
import { latin1Of } from "../../wire/reader.ts";
import { indexOfText, sentenceName } from "./framer.ts";

const asterisk = 0x2a;

/**
 * A message in its parts: `170214101530,+49...,GPRMC,...*7A,F,help me,
 * imei:490154203237518,10,41.1,F:4.28V,1,135,19824,262,01,1234,5678`.
 */
export interface Message {
  readonly imei: string;
  /** The telephone number that the tracker was told, or its network. */
  readonly phone: string;
  /** The sentence's fields behind its name; undefined: there is none. */
  readonly sentence: readonly string[] | undefined;
  /** The sentence's last field, with its checksum: `A*7A`. */
  readonly sentenceSum: string;
  /** Characters before the checksum of the long form. */
  readonly summed: number;
  /** `F`: good reception of satellites, `L`: bad. */
  readonly signal: string;
  /** What made the tracker report. */
  readonly event: string;
  /** Fields behind the IMEI. */
  readonly tail: readonly string[];
  /** Index in the tail of the battery's voltage; undefined: the short form. */
  readonly voltageAt: number | undefined;
}

/** Fields behind the IMEI that the short form has at most: its length and checksum in one. */
const shortTail = 2;

/** Characters of so many fields and the commas behind them. */
function lengthOf(fields: readonly string[], count: number): number {
  let length = 0;
  for (let at = 0; at < count; at++) length += (fields[at]?.length ?? 0) + 1;
  return length;
}

/** The parts of a message; undefined: it has no IMEI, or is a part of a longer one. */
export function messageOf(frame: Uint8Array): Message | undefined {
  const fields = latin1Of(frame).trimEnd().split(",");
  const idAt = fields.findIndex((text) => text.length > 14 && text.includes("imei:"));
  const imei = /^\s*imei:(\d{10,20})$/.exec(fields[idAt] ?? "")?.[1];
  if (imei === undefined) return undefined;
  const sentenceAt = fields.findIndex((text) => text === "GPRMC" || text === "GNRMC");
  const sumAt = fields.findIndex((text, index) => index > sentenceAt && text.includes("*"));
  // A tracker that has no position leaves the sentence's field empty.
  if (sentenceAt < 0 ? fields[2] !== "" : !(sumAt > 0 && sumAt < idAt)) return undefined;
  const tail = fields.slice(idAt + 1);
  const voltageAt = tail.findIndex((text) => text.startsWith("F:") || text.startsWith("L:"));
  if (voltageAt < 0 && tail.length > shortTail) return undefined;
  const [signal = "", ...event] = fields.slice(sentenceAt < 0 ? 3 : sumAt + 1, idAt);
  return {
    imei,
    phone: sentenceAt === 0 ? "" : (fields[1] ?? ""),
    sentence: sentenceAt < 0 ? undefined : fields.slice(sentenceAt + 1, sumAt),
    sentenceSum: sentenceAt < 0 ? "" : (fields[sumAt] ?? ""),
    summed: lengthOf(fields, idAt + 1 + voltageAt + 3),
    signal,
    event: event.join(" ").trim(),
    tail,
    voltageAt: voltageAt < 0 ? undefined : voltageAt,
  };
}

/**
 * What is wrong with a message's checksums; undefined: nothing. The long form has a CRC-16/XMODEM of all that stands
 * before it; where a firmware leaves that out, and in the short form, the sentence's own checksum counts.
 */
export function defect(frame: Uint8Array, message: Message): "malformed" | "badChecksum" | undefined {
  const { tail, voltageAt, sentence } = message;
  const [length = "", sum = ""] = voltageAt === undefined ? [] : tail.slice(voltageAt + 2);
  if (!/^\d{0,4}$/.test(length) || !/^\d{0,5}$/.test(sum) || (length === "" && sum !== "")) return "malformed";
  if (sum !== "") return crc16Xmodem(frame, 0, message.summed) === Number(sum) ? undefined : "badChecksum";
  if (sentence === undefined) return undefined;
  const written = /\*([0-9A-F]{2})\s*$/i.exec(message.sentenceSum)?.[1];
  if (written === undefined) return "malformed";
  const begin = indexOfText(frame, sentenceName, 0, frame.length) - 2;
  const own = xor8(frame, begin, frame.indexOf(asterisk, begin));
  return own === Number.parseInt(written, 16) ? undefined : "badChecksum";
}
