import { latin1Of } from "../../wire/reader.ts";

/** The kinds of messages that AIS-140 and its annexes have. */
export type Kind = "location" | "emergency" | "health" | "login" | "other";

/** A message in its parts: what stands in front of the IMEI, and what behind it. */
export interface Sentence {
  /** `$,` begins it: some makers put a comma behind the start character. */
  readonly apart: boolean;
  /** Header, vendor, firmware and, of a location, packet type, alert and packet status. */
  readonly head: readonly string[];
  readonly imei: string;
  readonly body: readonly string[];
}

const comma = 0x2c;
const asterisk = 0x2a;
const imeiLength = 15;
/** The IMEI begins within so many bytes: there are at most eight fields in front of it. */
const maximumHead = 128;

/** Offset of the IMEI, the first field of fifteen digits; -1: there is none. */
export function imeiOffset(frame: Uint8Array): number {
  const limit = Math.min(frame.length, maximumHead + imeiLength + 1);
  let start = 1;
  let digits = true;
  for (let at = 1; at <= limit; at++) {
    const byte = frame[at] ?? comma;
    if (byte === comma || byte === asterisk) {
      if (digits && at - start === imeiLength) return start;
      start = at + 1;
      digits = true;
    } else if (byte < 0x30 || byte > 0x39) digits = false;
  }
  return -1;
}

/** A message in its parts; undefined: nothing in it says who sent it. */
export function sentenceOf(frame: Uint8Array): Sentence | undefined {
  const at = imeiOffset(frame);
  if (at < 0) return undefined;
  const text = latin1Of(frame);
  const star = text.lastIndexOf("*");
  const apart = frame[1] === comma;
  const body = text.slice(at + imeiLength + 1, star < at ? undefined : star).trimEnd();
  return {
    apart,
    head: at > 2 ? text.slice(apart ? 2 : 1, at - 1).split(",") : [],
    imei: text.slice(at, at + imeiLength),
    body: body.split(","),
  };
}

/** Fields of a message, read one after the other; behind the last one all are empty. */
export class Fields {
  readonly all: readonly string[];
  at: number;

  constructor(all: readonly string[], at = 0) {
    this.all = all;
    this.at = at;
  }

  next(): string {
    return this.all[this.at++] ?? "";
  }

  peek(ahead = 0): string {
    return this.all[this.at + ahead] ?? "";
  }
}

/** What a message is, which its header says of few makers; undefined: nothing in it says who sent it. */
export function kindOf(frame: Uint8Array): Kind | undefined {
  const at = imeiOffset(frame);
  if (at < 0) return undefined;
  const head = latin1Of(frame.subarray(0, at));
  if (/,[LH],$/.test(head)) return "location";
  if (/,(?:EMR|SEM),$/.test(head)) return "emergency";
  const body = latin1Of(frame.subarray(at + imeiLength, at + maximumHead));
  if (/,HP,$/.test(head) || /^,(?:\d+(?:\.\d+)?%?,){5}/.test(body)) return "health";
  if (/^\$(?:,|,?(?:LGN|Header|01),.*)$/.test(head) || /,\d+\.\d+,[NS],\d+\.\d+,[EW]/.test(body)) return "login";
  return "other";
}
