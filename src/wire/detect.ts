import { cutDatagram } from "./datagram.ts";
import type { AnyProtocol, Certainty, DecodeContext, Transport } from "./protocol.ts";
import { framerOf } from "./replay.ts";
import { FrameStream } from "./stream.ts";

/** Bytes that a protocol's `detect` is shown. */
export const detectionBytes = 256;

/**
 * Bytes that a connection's opening has at most: by then it is given to a protocol, whether or not a first message is
 * whole.
 */
export const openingBytes = 4096;

/** What a protocol can make of the first message, best first. */
const readings = ["identified", "read", "waiting", "failed"] as const;

/**
 * What a protocol makes of the first message: it names a device; it is understood; it is not whole yet; it fails
 * (malformed, wrong checksum, no such message).
 */
export type FirstReading = (typeof readings)[number];

/**
 * Which protocol a connection's first bytes speak. `undecided`: further bytes may tell. `none`: no protocol knows these
 * bytes.
 *
 * Where one protocol alone is sure, it is that one. Where several are sure, or some say maybe, each of them reads the
 * first message: those that fail are out, one that names a device comes before one that does not, then the order of the
 * list decides. Where a checksum is wrong, one that can say which device the message is from is not out: that device's
 * checksums may mean nothing. `last`: no more will come (a datagram).
 */
export function detectProtocol(
  protocols: readonly AnyProtocol[],
  bytes: Uint8Array,
  transport: Transport,
  last: boolean,
): AnyProtocol | "undecided" | "none" {
  const possible = candidates(protocols, bytes, transport);
  const sure = possible.filter(({ certainty }) => certainty === "sure");
  const [first, ...others] = [...sure, ...possible.filter(({ certainty }) => certainty === "maybe")];
  if (first === undefined) return "none";
  if (others.length === 0 && sure.length === 1) return first.protocol;
  const read = ({ protocol }: { readonly protocol: AnyProtocol }) => ({
    protocol,
    ...readOpening(protocol, bytes, transport, last),
  });
  const surely = sure.map(read).filter(({ reading, ids }) => reading !== "failed" || ids !== undefined);
  if (surely.length === 1 && surely[0] !== undefined) return surely[0].protocol;
  const standing = surely.length > 0 ? surely : [first, ...others].map(read);
  const best = readings.find((each) => standing.some(({ reading }) => reading === each));
  const chosen = standing.find(({ reading }) => reading === best)?.protocol ?? first.protocol;
  // A request is answered, whose ever it is.
  if (best === "failed" && sure.length === 0 && transport !== "http") {
    const named = standing.find(({ ids }) => ids !== undefined);
    if (named !== undefined) return named.protocol;
    if (transport === "udp" || (last && others.length > 0)) return "none";
  }
  if (last || best === "identified") return chosen;
  const waiting = standing.some(({ reading }) => reading === "waiting");
  if (best === "read" && !waiting) return chosen;
  return bytes.length < (waiting ? openingBytes : detectionBytes) ? "undecided" : chosen;
}

/** Line ends and blanks that may stand before a connection's first message. */
const mostBlanks = 64;

/**
 * What follows the line ends and blanks that bridges from a serial line send before the first message. Undefined: there
 * are none, or too many.
 */
export function behindBlanks(bytes: Uint8Array): Uint8Array | undefined {
  const blank = (byte: number | undefined) => byte === 0x0d || byte === 0x0a || byte === 0x20 || byte === 0x09;
  let count = 0;
  while (blank(bytes[count])) count++;
  return count > 0 && count <= mostBlanks ? bytes.subarray(count) : undefined;
}

/** The protocols that do not say "no" to these first bytes, in the order of the list. */
export function candidates(
  protocols: readonly AnyProtocol[],
  bytes: Uint8Array,
  transport: Transport,
): readonly { readonly protocol: AnyProtocol; readonly certainty: Certainty }[] {
  const head = transport === "tcp" ? bytes.subarray(0, detectionBytes) : bytes;
  const found: { protocol: AnyProtocol; certainty: Certainty }[] = [];
  for (const protocol of protocols) {
    if (!protocol.transports.includes(transport)) continue;
    const certainty = protocol.detect(head, transport);
    if (certainty !== "no") found.push({ protocol, certainty });
  }
  return found;
}

const context: DecodeContext = Object.freeze({
  receivedAt: 0,
  transport: "tcp",
  identified: false,
  options: Object.freeze({}),
});

/**
 * What a protocol makes of the first message in these bytes, and the identifiers that it gives, also where its checksum
 * is wrong.
 */
export function readOpening(
  protocol: AnyProtocol,
  bytes: Uint8Array,
  transport: Transport,
  last: boolean,
): { readonly reading: FirstReading; readonly ids?: readonly string[] } {
  const first = firstMessage(protocol, bytes, transport);
  if (first === undefined) return { reading: last ? "failed" : "waiting" };
  const effects = protocol.connect().decode(first.message, { ...context, transport });
  const failure = effects.find((effect) => effect.type === "failure");
  if (failure !== undefined) {
    // What was cut by a pause may be the start of a message that goes on.
    if (!first.whole && !last) return { reading: "waiting" };
    return { reading: "failed", ...(failure.ids && { ids: failure.ids }) };
  }
  const identify = effects.find((effect) => effect.type === "identify");
  return identify === undefined ? { reading: "read" } : { reading: "identified", ids: identify.ids };
}

function firstMessage(
  protocol: AnyProtocol,
  bytes: Uint8Array,
  transport: Transport,
): { readonly message: Uint8Array; readonly whole: boolean } | undefined {
  if (transport === "udp") {
    const [message = bytes] = cutDatagram(protocol, bytes).messages;
    return { message, whole: true };
  }
  // A request is cut by the service, before it is asked whose it is.
  if (transport === "http") return { message: bytes, whole: true };
  const stream = new FrameStream(framerOf(protocol, transport), Number.POSITIVE_INFINITY);
  stream.push(bytes);
  const message = stream.next();
  if (message instanceof Uint8Array) return { message, whole: true };
  const settled = stream.settled();
  return settled instanceof Uint8Array ? { message: settled, whole: false } : undefined;
}
