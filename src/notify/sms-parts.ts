import type { SmsBody } from "../ports/sms.ts";
import smpp from "./smpp-library.ts";

/** A message as SMPP carries it: one short_message for each part. */
export interface EncodedSms {
  /** SMPP 3.4, 5.2.19: the gateway's default alphabet (GSM 03.38), 8-bit binary, UCS-2. */
  readonly dataCoding: 0x00 | 0x04 | 0x08;
  /** With a user data header before each where there are several. */
  readonly parts: readonly Buffer[];
}

/**
 * What a short message holds, alone and beside a concatenation header of 6 octets (3GPP TS 23.040, 9.2.3.24): 140
 * octets, or 160 septets.
 */
const octets = { alone: 140, part: 134 };
const septets = { alone: 160, part: 153 };

/** A concatenation counts its parts in one octet. */
const mostParts = 255;

/** Begins the two septets of a character of the extension table. */
const escapeSeptet = 0x1b;

/**
 * Cuts a message into as many parts as it needs. Text is GSM 7-bit (one septet an octet, as SMPP has it) where that
 * alphabet has all of its characters, else UCS-2. `reference` (0 to 255) tells the parts of this message from those of
 * others to the same phone. Undefined: it would need more than 255 parts.
 */
export function encodeSms(body: SmsBody, reference: number): EncodedSms | undefined {
  const { dataCoding, bytes, limits } = encode(body);
  if (bytes.length <= limits.alone) return { dataCoding, parts: [bytes] };
  const pieces: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = pieceEnd(bytes, from, limits.part, dataCoding);
    pieces.push(bytes.subarray(from, end));
    from = end;
  }
  if (pieces.length > mostParts) return undefined;
  return {
    dataCoding,
    parts: pieces.map((piece, index) =>
      Buffer.concat([Buffer.from([5, 0, 3, reference, pieces.length, index + 1]), piece]),
    ),
  };
}

/** SMS that a message needs; one more than can be where it needs too many. */
export function countParts(body: SmsBody): number {
  return encodeSms(body, 0)?.parts.length ?? mostParts + 1;
}

function encode(body: SmsBody): Pick<EncodedSms, "dataCoding"> & { bytes: Buffer; limits: typeof octets } {
  if ("bytes" in body) return { dataCoding: 0x04, bytes: Buffer.from(body.bytes), limits: octets };
  // A bare escape is in the library's alphabet, but as a character of a text it would swallow the next one.
  if (!body.text.includes("\x1b") && smpp.gsmCoder.GSM.charRegex.test(body.text))
    return { dataCoding: 0x00, bytes: smpp.gsmCoder.encode(body.text, 0), limits: septets };
  return { dataCoding: 0x08, bytes: Buffer.from(body.text.toWellFormed(), "utf16le").swap16(), limits: octets };
}

/** Where a part ends: never within an escape sequence or a surrogate pair. */
function pieceEnd(bytes: Buffer, from: number, size: number, dataCoding: EncodedSms["dataCoding"]): number {
  const end = Math.min(from + size, bytes.length);
  if (end === bytes.length) return end;
  if (dataCoding === 0x00 && bytes[end - 1] === escapeSeptet) return end - 1;
  if (dataCoding === 0x08 && ((bytes[end - 2] ?? 0) & 0xfc) === 0xd8) return end - 2;
  return end;
}
