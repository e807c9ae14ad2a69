import type { Effect } from "../model/effects.ts";
import { cutDatagram } from "./datagram.ts";
import type { Framer } from "./framing.ts";
import { httpFramer } from "./http.ts";
import type { AnyProtocol, Connection, DecodeContext, DecodeOptions, Transport } from "./protocol.ts";
import { FrameStream } from "./stream.ts";

/** What is known of a recorded connection beside its bytes. */
export interface ReplayOptions {
  readonly transport: Transport;
  /** Arrival of every message, epoch ms. */
  readonly receivedAt: number;
  /** The connection counts as identified from its first message on. */
  readonly identified: boolean;
  readonly options: DecodeOptions;
}

/** What cuts a protocol's messages from a stream: the protocol itself, or HTTP. */
export function framerOf(protocol: AnyProtocol, transport: Transport): Framer {
  return transport === "http" ? httpFramer : protocol.framer;
}

/**
 * One recorded connection, played without sockets in the same steps as in the gateway: for `waybeam decode`, vectors
 * and tests.
 */
export class Replay {
  readonly connection: Connection;
  readonly #protocol: AnyProtocol;
  readonly #options: ReplayOptions;
  #identified: boolean;

  constructor(protocol: AnyProtocol, options: ReplayOptions) {
    this.connection = protocol.connect();
    this.#protocol = protocol;
    this.#options = options;
    this.#identified = options.identified;
  }

  /** Effects of one whole message. */
  message(frame: Uint8Array): readonly Effect[] {
    const { transport, receivedAt, options } = this.#options;
    const context: DecodeContext = { receivedAt, transport, identified: this.#identified, options };
    const effects = this.connection.decode(frame, context);
    this.#identified ||= effects.some((effect) => effect.type === "identify");
    return effects;
  }

  /** Effects of what a recording holds as one message: over udp that is a datagram, which may hold several. */
  recorded(bytes: Uint8Array): readonly Effect[] {
    if (this.#options.transport !== "udp") return this.message(bytes);
    return cutDatagram(this.#protocol, bytes).messages.flatMap((message) => this.message(message));
  }

  /** Effects of all the messages that a further piece of the stream completes. */
  chunk(stream: FrameStream, bytes: Uint8Array): readonly Effect[] {
    const effects: Effect[] = [];
    stream.push(bytes);
    for (let next = stream.next(); next instanceof Uint8Array; next = stream.next())
      effects.push(...this.message(next));
    return effects;
  }

  /** Effects of each of a stream's pieces, which end with the last one; no amount of junk ends it before. */
  chunks(pieces: readonly Uint8Array[]): readonly (readonly Effect[])[] {
    const stream = new FrameStream(framerOf(this.#protocol, this.#options.transport), Number.POSITIVE_INFINITY);
    return pieces.map((piece, index) => {
      const effects = this.chunk(stream, piece);
      return index === pieces.length - 1 && stream.unsettled ? [...effects, ...this.#ending(stream)] : effects;
    });
  }

  #ending(stream: FrameStream): readonly Effect[] {
    const effects: Effect[] = [];
    for (let next = stream.settled(); next instanceof Uint8Array; next = stream.settled())
      effects.push(...this.message(next));
    return effects;
  }
}
