import type { Effect } from "../../model/effects.ts";
import type { DecodeContext, Decoded } from "../../wire/protocol.ts";
import { Reader } from "../../wire/reader.ts";
import { Writer } from "../../wire/writer.ts";
import { datagramHead, datagramSized, isDatagram, mark, packageHead } from "./framer.ts";

/** What a connection said before: its IMEI, and whether it speaks in datagrams. */
export interface EelinkSession {
  readonly id: string | undefined;
  readonly datagrams: boolean;
}

/** A connection of which nothing is known. */
export const initialSession: EelinkSession = Object.freeze({ id: undefined, datagrams: false });

/** What a package says, and the content of its response, if it has one of its own. */
export interface PackageRead {
  readonly effects: readonly Effect[];
  readonly content?: Uint8Array;
}

/** A kind of package of the manuals. */
export interface Kind {
  readonly pid: number;
  readonly name: string;
  /** It says who sends it. */
  readonly identifies?: true;
  /** The old protocol's positions are sent once, and nobody waits for a response. */
  readonly silent?: true;
  /** Reads what stands behind the sequence number. */
  readonly read: (content: Reader, context: DecodeContext) => PackageRead;
}

/** A package: mark, identifier, size, sequence number, content. (Device Protocol V2.0, 5.1) */
export function packageOf(pid: number, sequence: number, content: Uint8Array = new Uint8Array(0)): Uint8Array {
  const writer = new Writer(packageHead + 2 + content.length).u8(mark).u8(mark).u8(pid);
  return writer
    .u16(content.length + 2)
    .u16(sequence)
    .raw(content)
    .done();
}

/** Packages as a datagram: `EL`, size, checksum, IMEI. (Device Protocol V2.0, 4.2) */
export function datagramOf(imei: string, packages: Uint8Array): Uint8Array {
  const content = new Writer(packages.length + 8)
    .raw(Uint8Array.fromHex(imei.padStart(16, "0")))
    .raw(packages)
    .done();
  const writer = new Writer(content.length + 6).latin1("EL").u16(content.length + 2);
  return writer.u16(checksumOf(content, 0)).raw(content).done();
}

/** Sum of 16 bits that is rotated to the left before each byte. */
export function checksumOf(bytes: Uint8Array, from: number): number {
  let sum = 0;
  for (let index = from; index < bytes.length; index++)
    sum = (((sum << 1) | (sum >> 15)) + (bytes[index] ?? 0)) & 0xffff;
  return sum;
}

/** The IMEI of eight bytes of BCD; undefined where they are none. */
export function imeiOf(bytes: Uint8Array): string | undefined {
  const digits = bytes.toHex();
  return /^0\d{15}$/.test(digits) ? digits.slice(1) : undefined;
}

const malformed: Effect = Object.freeze({ type: "failure", cause: "malformed" });

/** Handles a package that stands alone. */
export function handlePackage(kind: Kind) {
  return (bytes: Uint8Array, session: EelinkSession, context: DecodeContext): Decoded<EelinkSession> => {
    if (!context.identified && session.id === undefined && !kind.identifies)
      return { session, effects: [{ type: "failure", cause: "notIdentified" }] };
    const effects = effectsOf(kind, bytes, 0, context, (response) => response);
    const identify = effects.find((effect) => effect.type === "identify");
    return { session: identify === undefined ? session : { ...session, id: identify.ids[0] }, effects };
  };
}

/** Handles a datagram: the packages of one tracker, each answered in a datagram of its own. */
export function handleDatagram(kinds: ReadonlyMap<number, Kind>) {
  return (bytes: Uint8Array, session: EelinkSession, context: DecodeContext): Decoded<EelinkSession> => {
    const id = imeiOf(bytes.subarray(datagramSized + 2, datagramHead));
    if (id === undefined || bytes.length !== sizeAt(bytes, 2) + datagramSized) return { session, effects: [malformed] };
    const sum = sizeAt(bytes, datagramSized);
    if (sum !== checksumOf(bytes, datagramSized + 2) && context.options.checksums !== "ignore")
      return { session, effects: [{ type: "failure", cause: "badChecksum", ids: [id] }] };
    const isUdp = context.transport === "udp";
    const wrap = (response: Uint8Array): Uint8Array => (isUdp ? datagramOf(id, response) : response);
    const effects: Effect[] = id === session.id ? [] : [{ type: "identify", ids: [id] }];
    for (let at = datagramHead; at < bytes.length; at += packageHead + sizeAt(bytes, at + 3)) {
      if (bytes[at] !== mark || bytes[at + 1] !== mark) return { session, effects: [malformed] };
      const kind = kinds.get(bytes[at + 2] ?? 0);
      if (kind === undefined) {
        effects.push({ type: "ignored", reason: "a package that no manual knows" });
        continue;
      }
      const own = effectsOf(kind, bytes, at, context, wrap);
      effects.push(...own.filter(({ type }) => type !== "identify"));
    }
    return { session: { id, datagrams: isUdp }, effects };
  };
}

function effectsOf(
  { pid, identifies, silent, read }: Kind,
  bytes: Uint8Array,
  at: number,
  context: DecodeContext,
  wrap: (response: Uint8Array) => Uint8Array,
): readonly Effect[] {
  const reader = new Reader(bytes, at + packageHead, at + packageHead + sizeAt(bytes, at + 3));
  const sequence = reader.u16();
  const { effects, content } = read(reader, context);
  if (silent || effects.some(({ type }) => type === "failure")) return effects;
  const when = identifies ? "identified" : "stored";
  return [...effects, { type: "reply", bytes: wrap(packageOf(pid, sequence, content)), when }];
}

function sizeAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

/** The key of a frame: the identifier of its package, or `EL` of a datagram. */
export function classify(bytes: Uint8Array): number | string | undefined {
  if (isDatagram(bytes)) return "EL";
  if (bytes[0] !== mark || bytes[1] !== mark || bytes.length !== packageHead + sizeAt(bytes, 3)) return undefined;
  return bytes[2];
}
