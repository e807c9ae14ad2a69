import type { Exchange, Turned } from "./exchange.ts";
import type { Doubt } from "./opening.ts";
import type { CloseCause } from "./types.ts";

/** A session's way back to its peer: a TCP connection, one that carries HTTP, or a UDP peer. */
export interface Channel {
  /** Names the connection in logs and traces. */
  readonly id: string;
  /** The peer's address, without its port. */
  readonly address: string;
  /** When something was last heard, in ticks. */
  readonly lastTick: number;
  /** Sends bytes. Whether the peer is still there shows later. */
  write(bytes: Uint8Array): void;
  /** Reports are on their way to the store: from now on nobody else reads the bytes that they came in. */
  submitted(): void;
  /** All that the exchange waited for is done: its replies (HTTP: its response) are to be sent. */
  finish(exchange: Exchange): void;
  /**
   * Its protocol is doubted, before anything of it was submitted. Gives whether its bytes are read by another one from
   * here on: the session is closed then, and another takes its place. `ids`: who the bytes say they are from.
   */
  reread(doubt: Doubt, ids?: readonly string[]): boolean;
  /** A registered device speaks on it. */
  identified(): void;
  /** Whoever speaks on it is refused: it is to be closed soon, if no other device identifies. */
  refused(cause: Turned): void;
  /** The session, which was not ready for further messages, is again. */
  resume(): void;
  close(cause: CloseCause): void;
}

/** Sends what the exchange held back, where its data was taken. */
export function writeReplies(channel: Pick<Channel, "write">, exchange: Exchange): void {
  if (exchange.replies === undefined || exchange.unavailable || exchange.refusal !== undefined) return;
  for (const reply of exchange.replies) channel.write(reply);
}
