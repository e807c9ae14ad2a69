import { detectionBytes, detectProtocol } from "../wire/detect.ts";
import { httpFramer, startsHttp } from "../wire/http.ts";
import type { AnyProtocol } from "../wire/protocol.ts";
import { FrameStream } from "../wire/stream.ts";

/** A connection's first bytes, while they do not tell what it speaks. */
export class Opening {
  #bytes: Uint8Array = new Uint8Array(0);

  /** All of them: the socket's own where they came in one piece. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Takes further bytes, and says what all of them speak: see `openingOf`. Those that do not tell yet are copied. */
  take(protocols: readonly AnyProtocol[], chunk: Uint8Array, last: boolean): ReturnType<typeof openingOf> {
    const bytes = this.#bytes.length === 0 ? chunk : concatenated(this.#bytes, chunk);
    const found = openingOf(protocols, bytes, last);
    this.#bytes = found === "undecided" ? bytes.slice() : bytes;
    return found;
  }

  /** All of them as a stream of what they turned out to speak. */
  stream(found: AnyProtocol | "http", junkBytes: number): FrameStream {
    const stream = new FrameStream(found === "http" ? httpFramer : found.framer, junkBytes);
    stream.push(this.#bytes);
    return stream;
  }
}

function concatenated(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/**
 * What a connection's first bytes say it speaks: a protocol, or HTTP, whose requests tell the protocol later. "undecided": further bytes may tell.
 * "none": nothing that is known. `last`: no more will come.
 */
function openingOf(
  protocols: readonly AnyProtocol[],
  bytes: Uint8Array,
  last: boolean,
): AnyProtocol | "http" | "undecided" | "none" {
  const http = startsHttp(bytes);
  if (http === "sure") return "http";
  const found = detectProtocol(protocols, bytes.subarray(0, detectionBytes), "tcp", last);
  return found === "none" && http === "maybe" ? "undecided" : found;
}
