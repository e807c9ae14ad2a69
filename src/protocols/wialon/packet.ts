import { crc16Arc } from "../../wire/checksums.ts";

const hash = 0x23;
const cr = 0x0d;
const lf = 0x0a;

/** A message's parts: `[version;][identifier]#TYPE#body`. */
export interface Packet {
  /** Identifier in front of the first `#`: over UDP only. */
  readonly id: string;
  readonly checked: boolean;
  readonly type: string;
  readonly body: string;
  /** `body` as bytes, for the checksum. */
  readonly bytes: Uint8Array;
}

const decoder = new TextDecoder();

/** Bytes of the longest head: a version and an identifier. */
const longestHead = 68;

/** The message's type alone, for the table of messages. */
export function typeOf(bytes: Uint8Array): string | undefined {
  const first = bytes.indexOf(hash);
  const second = bytes.indexOf(hash, first + 1);
  return first < 0 || second < 0 || second - first > 4 ? undefined : decoder.decode(bytes.subarray(first + 1, second));
}

/** The message of a frame, with or without its line end. Undefined: it has no type between two `#`. */
export function packetOf(bytes: Uint8Array): Packet | undefined {
  let end = bytes.length;
  while (end > 0 && (bytes[end - 1] === lf || bytes[end - 1] === cr)) end--;
  const first = bytes.indexOf(hash);
  const second = bytes.indexOf(hash, first + 1);
  if (first < 0 || first > longestHead || second < 0 || second >= end) return undefined;
  const head = decoder.decode(bytes.subarray(0, first));
  const body = bytes.subarray(second + 1, end);
  const checked = /^\d\.\d;/.test(head);
  return {
    id: checked ? head.slice(4) : head,
    checked,
    type: decoder.decode(bytes.subarray(first + 1, second)),
    body: decoder.decode(body),
    bytes: body,
  };
}

/** Whether the text ends with the checksum of what stands before it: CRC-16/ARC, hexadecimal. (2.0, 3: "CRC16") */
export function checksumHolds({ bytes }: Packet): boolean {
  let at = bytes.length;
  while (at > 0 && bytes[at - 1] !== 0x3b && bytes[at - 1] !== 0x7c) at--;
  const given = decoder.decode(bytes.subarray(at));
  const sum = crc16Arc(bytes, 0, at).toString(16).padStart(given.length, "0");
  return given === sum.toUpperCase() || given === sum;
}
