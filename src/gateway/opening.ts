import type { Admitted } from "../ports/intake.ts";
import { behindBlanks, candidates, detectProtocol, openingBytes, readOpening } from "../wire/detect.ts";
import { httpFramer, startsHttp } from "../wire/http.ts";
import type { AnyProtocol } from "../wire/protocol.ts";
import { FrameStream } from "../wire/stream.ts";

/**
 * Why a conversation's protocol is doubted: a message failed; whoever it names may not report; or the device that it
 * names, which may have spoken another one before.
 */
export type Doubt = "failed" | "refused" | Admitted;

/** What bytes speak; "undecided": further ones may tell. */
type Found = AnyProtocol | "http" | "undecided" | "none";

/**
 * The first bytes of a conversation: while they do not tell what it speaks, and after that as long as they may have
 * told wrong, at most until something of it is submitted. No more than `openingBytes` of them are kept.
 */
export class Opening {
  /** Those that the port speaks. */
  readonly protocols: readonly AnyProtocol[];
  readonly #transport: "tcp" | "udp";
  #chosen: AnyProtocol | undefined;
  /** Those that the bytes may be of instead. */
  #others: readonly AnyProtocol[] = [];
  #bytes: Uint8Array = new Uint8Array(0);

  constructor(protocols: readonly AnyProtocol[], transport: "tcp" | "udp") {
    this.protocols = protocols;
    this.#transport = transport;
  }

  /** All of them: the socket's own where they came in one piece and leave no doubt. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /**
   * Takes further bytes, and says what all of them speak: a protocol, or HTTP, whose requests tell the protocol later.
   * `last`: no more will come.
   */
  take(chunk: Uint8Array, last: boolean): Found {
    const all = this.#bytes.length === 0 ? chunk : concatenated(this.#bytes, chunk);
    const { found, bytes } = this.#read(all, last);
    this.#bytes = bytes;
    if (typeof found === "object") this.#choose(found);
    // The socket's own bytes are overwritten.
    if (found === "undecided" || this.doubtful) this.#bytes = bytes.slice();
    return found;
  }

  /** All of them as a stream of what they turned out to speak. */
  stream(found: AnyProtocol | "http", junkBytes: number): FrameStream {
    const stream = new FrameStream(found === "http" ? httpFramer : found.framer, junkBytes);
    stream.push(this.#bytes);
    return stream;
  }

  /** Whether a protocol was chosen, and the bytes may be of another one. */
  get doubtful(): boolean {
    return this.#others.length > 0;
  }

  /** Takes bytes that follow. Undefined: they are too many to be kept. */
  follow(chunk: Uint8Array): Opening | undefined {
    if (this.#bytes.length + chunk.length > openingBytes) return undefined;
    this.#bytes = concatenated(this.#bytes, chunk);
    return this;
  }

  /**
   * The protocol that reads the bytes instead: where a message failed, one that reads the first; where nobody is
   * registered under `ids`, one that finds other identifiers there; where the device spoke another protocol before and
   * never this one, that one. Undefined: none does.
   */
  instead(doubt: Doubt, ids: readonly string[] | undefined): AnyProtocol | undefined {
    const ways = typeof doubt === "string" ? undefined : new Set(doubt.ways.map(({ protocol }) => protocol));
    if (this.#chosen !== undefined && ways?.has(this.#chosen.id)) {
      this.#others = [];
      return undefined;
    }
    const read = this.#others
      .map((protocol) => ({ protocol, ...readOpening(protocol, this.#bytes, this.#transport, false) }))
      .filter(({ protocol, reading, ids: named }) => {
        if (ways !== undefined) return reading === "identified" && ways.has(protocol.id);
        if (doubt === "refused") return reading === "identified" && named?.join() !== ids?.join();
        return reading === "identified" || reading === "read";
      });
    const best = (read.find(({ reading }) => reading === "identified") ?? read[0])?.protocol;
    if (best !== undefined) this.#choose(best);
    return best;
  }

  /** One that was chosen is not chosen again. */
  #choose(protocol: AnyProtocol): void {
    const others =
      this.#chosen === undefined
        ? candidates(this.protocols, this.#bytes, this.#transport).map((each) => each.protocol)
        : this.#others;
    this.#chosen = protocol;
    this.#others = others.filter((other) => other !== protocol);
  }

  /** What the bytes speak, and from where on: blanks before them are passed over where no message begins so. */
  #read(all: Uint8Array, last: boolean): { readonly found: Found; readonly bytes: Uint8Array } {
    const found = this.#speaks(all, last);
    const rest = found === "none" && this.#transport === "tcp" ? behindBlanks(all) : undefined;
    if (rest === undefined) return { found, bytes: all };
    const behind = rest.length === 0 ? "undecided" : this.#speaks(rest, last);
    return { found: behind, bytes: behind === "undecided" ? all : rest };
  }

  #speaks(bytes: Uint8Array, last: boolean): Found {
    const http = this.#transport === "tcp" ? startsHttp(bytes) : "no";
    if (http === "sure") return "http";
    const found = detectProtocol(this.protocols, bytes, this.#transport, last);
    return found === "none" && http === "maybe" ? "undecided" : found;
  }
}

function concatenated(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
