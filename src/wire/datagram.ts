import type { AnyProtocol } from "./protocol.ts";
import { FrameStream } from "./stream.ts";

/** What a datagram holds. The messages are views of it. */
export interface DatagramCut {
  /** At least one. */
  readonly messages: readonly Uint8Array[];
  /** Bytes that belong to no message, and why they were last passed over. */
  readonly skipped: number;
  readonly skipReason: string | undefined;
}

/**
 * Cuts a datagram into its messages by the protocol's `datagram`. Nothing follows a datagram: what is left over when
 * the framer waits for more is a message as it is (a sentence without its end mark), and a datagram in which no message
 * is found is one, for the decoder to judge.
 */
export function cutDatagram({ datagram: framer }: Pick<AnyProtocol, "datagram">, datagram: Uint8Array): DatagramCut {
  if (framer === undefined) return { messages: [datagram], skipped: 0, skipReason: undefined };
  const stream = new FrameStream(framer, Number.POSITIVE_INFINITY);
  const messages: Uint8Array[] = [];
  stream.push(datagram);
  for (let next = stream.next(); next instanceof Uint8Array; next = stream.next()) messages.push(next);
  for (let next = stream.settled(); next instanceof Uint8Array; next = stream.settled()) messages.push(next);
  if (stream.unread > 0) messages.push(stream.rest());
  if (messages.length === 0) return { messages: [datagram], skipped: 0, skipReason: undefined };
  return { messages, skipped: stream.skipped, skipReason: stream.skipReason };
}
