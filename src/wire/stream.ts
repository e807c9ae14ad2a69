import type { Framer, Framing } from "./framing.ts";

const empty = new Uint8Array(0);

/** Below this a buffer is kept as it is rather than shrunk: an allocation costs more than the bytes. */
const smallBuffer = 1024;

/**
 * The unread bytes of one connection, cut into messages by a protocol's framer.
 *
 * Push what arrives, then call `next` until it says "more" (or "junk"). A chunk that begins and ends with whole frames
 * is never copied; the start of a frame that is not whole yet is copied once to a buffer of its own, which grows by
 * doubling, so that a stream that arrives byte by byte costs linear work. With nothing unread no buffer is held: an
 * idle connection costs this object only.
 *
 * The framer sees at most its own `maximum` of unread bytes, however much has arrived, so frames never depend on how
 * the stream was cut. Memory is bounded by `maximum` plus one chunk as long as the caller drains before it pushes
 * again.
 */
export class FrameStream {
  readonly #framer: Framer;
  readonly #maximumJunk: number;
  #buffer: Uint8Array = empty;
  /** The buffer is this object's own and not the socket's. */
  #owned = false;
  #start = 0;
  #end = 0;
  #view: Uint8Array | undefined;
  /** Unread bytes before which the framer need not be asked again, and how far it has read them. */
  #needed = 0;
  #progress: object | undefined;
  #junk = 0;
  #skipped = 0;
  #skipReason: string | undefined;

  /** `maximumJunk`: bytes between two frames that may belong to none before `next` says "junk". */
  constructor(framer: Framer, maximumJunk: number) {
    this.#framer = framer;
    this.#maximumJunk = maximumJunk;
  }

  /** Bytes that arrived and are not read yet. */
  get unread(): number {
    return this.#end - this.#start;
  }

  /** Bytes of memory that are held for what is unread. */
  get held(): number {
    return this.#buffer.length;
  }

  /** Bytes of the whole stream that belong to no frame. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Why the framer last passed over bytes. */
  get skipReason(): string | undefined {
    return this.#skipReason;
  }

  /**
   * The unread bytes (a view, as short-lived as a frame): what is left when the stream ends, or passes to another
   * reader.
   */
  rest(): Uint8Array {
    return this.#buffer.subarray(this.#start, this.#end);
  }

  /** Takes the next piece of the stream. The caller leaves its bytes alone until `next` has said "more". */
  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#view = undefined;
    if (this.#start === this.#end) {
      // A plain view: a Buffer's `slice` does not copy, which no decoder should have to know.
      this.#buffer = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length);
      this.#owned = false;
      this.#start = 0;
      this.#end = chunk.length;
      return;
    }
    this.#makeRoom(chunk.length);
    this.#buffer.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /**
   * The next whole message, as a view that is good until the next `push`. "more": none is whole yet. "junk": more bytes
   * in a row than allowed belong to no message; the connection is to be closed, and every further call says "junk"
   * again.
   */
  next(): Uint8Array | "more" | "junk" {
    return this.#cut(this.#framer.next);
  }

  /**
   * Whether bytes wait whose meaning depends on what follows: after `quietMs` without any, or at the stream's end,
   * `settled` reads them.
   */
  get unsettled(): boolean {
    return this.#framer.settle !== undefined && this.#start < this.#end;
  }

  /** Like `next`, knowing that nothing follows for now. */
  settled(): Uint8Array | "more" | "junk" {
    return this.#cut(this.#framer.settle ?? this.#framer.next);
  }

  #cut(read: Framer["next"]): Uint8Array | "more" | "junk" {
    while (this.#junk <= this.#maximumJunk && this.#start < this.#end) {
      if (this.unread < this.#needed && read === this.#framer.next) break;
      const view = this.#visible();
      const framing = read(view, this.#start, this.#progress);
      this.#await(framing);
      if (framing.type === "frame") {
        this.#start = Math.min(Math.max(framing.end, this.#start + 1), view.length);
        this.#junk = 0;
        return view.subarray(framing.start, framing.stop);
      }
      if (framing.type === "skip") this.#skip(framing.length, framing.reason);
      else if (view.length - this.#start >= this.#framer.maximum) this.#skip(this.#framer.maximum, "too long");
      else break;
    }
    if (this.#junk > this.#maximumJunk) {
      this.#buffer = empty;
      this.#view = undefined;
      this.#start = this.#end = 0;
      return "junk";
    }
    this.#settle();
    return "more";
  }

  /** Remembers what the framer waits for; a message or bytes that are passed over begin anew. */
  #await(framing: Framing): void {
    const waiting = framing.type === "more";
    this.#progress = waiting ? framing.progress : undefined;
    this.#needed = waiting ? Math.min(framing.length ?? 0, this.#framer.maximum) : 0;
  }

  /** What the framer may see: the unread bytes up to its maximum, at the offset where they stand in the buffer. */
  #visible(): Uint8Array {
    const end = Math.min(this.#end, this.#start + this.#framer.maximum);
    if (end === this.#buffer.length) return this.#buffer;
    if (this.#view?.length !== end) this.#view = this.#buffer.subarray(0, end);
    return this.#view;
  }

  #skip(length: number, reason: string): void {
    // At least one byte, whatever the framer says: a framer's mistake must not become an endless loop.
    const count = Math.min(Math.max(1, length), this.#end - this.#start);
    this.#start += count;
    this.#junk += count;
    this.#skipped += count;
    this.#skipReason = reason;
  }

  /** Holds no more than what is unread, and nothing of the socket's, while waiting for further bytes. */
  #settle(): void {
    const unread = this.#end - this.#start;
    if (unread === 0) this.#buffer = empty;
    else if (this.#owned && (this.#buffer.length <= smallBuffer || unread * 4 >= this.#buffer.length)) return;
    else this.#buffer = this.#buffer.slice(this.#start, this.#end);
    this.#owned = unread > 0;
    this.#view = undefined;
    this.#start = 0;
    this.#end = unread;
  }

  /**
   * Makes the buffer this object's own with `count` free bytes at its end; moves what is unread only when that pays.
   */
  #makeRoom(count: number): void {
    if (this.#owned && this.#end + count <= this.#buffer.length) return;
    const unread = this.#end - this.#start;
    if (this.#owned && this.#start >= unread && unread + count <= this.#buffer.length) {
      this.#buffer.copyWithin(0, this.#start, this.#end);
    } else {
      const larger = new Uint8Array(Math.max(unread + count, unread * 2));
      larger.set(this.rest());
      this.#buffer = larger;
      this.#owned = true;
    }
    this.#start = 0;
    this.#end = unread;
  }
}
