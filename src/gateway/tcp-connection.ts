import type { Socket } from "node:net";
import type { AnyProtocol } from "../wire/protocol.ts";
import type { FrameStream } from "../wire/stream.ts";
import { type Channel, writeReplies } from "./channel.ts";
import type { Exchange, Turned } from "./exchange.ts";
import { HttpResponder, lastResponse } from "./http.ts";
import { MessageRate } from "./message-rate.ts";
import { type Doubt, Opening } from "./opening.ts";
import { drop, gather, own, unsentOf } from "./owned-socket.ts";
import { QuietTimer } from "./quiet-timer.ts";
import { Session } from "./session.ts";
import { plainAddress, type Shared } from "./shared.ts";
import type { Source } from "./sources.ts";
import type { Door, TcpGroup } from "./tcp-group.ts";
import type { CloseCause } from "./types.ts";

/** Seconds that a peer has to take our last bytes and close. */
const closingSeconds = 5;

/**
 * One accepted socket: bytes in, messages to its session, replies out. Idle, it holds no buffer, timer or closure.
 * While its session takes no message it is "blocked" and the socket paused: a chunk more than the longest frame waits.
 */
export class TcpConnection implements Channel {
  readonly address: string;
  /** What its address has in all. */
  readonly source: Source;
  /** Those that its port speaks. */
  readonly #protocols: readonly AnyProtocol[];
  readonly #number: number;
  #socket: Socket;
  readonly #shared: Shared;
  readonly #group: TcpGroup<TcpConnection>;
  readonly #rate: MessageRate;
  #opening: Opening | undefined;
  #stream: FrameStream | undefined;
  #session: Session | undefined;
  #http: HttpResponder | undefined;
  /** Where its protocol's messages do not tell their end. */
  #quiet: QuietTimer | undefined;
  #blocked = false;
  /** Blocked for being too fast. */
  #throttled = false;
  #paused = false;
  #ended = false;
  #held = 0;
  #closing = false;
  #closed = false;
  #skipped = 0;
  /** When the last byte came, in ticks. */
  lastTick: number;
  /** When it is closed unless its device is known by then, or has taken our last bytes: in ticks. */
  deadline: number;
  #refusal: Turned | undefined;

  constructor(socket: Socket, number: number, shared: Shared, group: TcpGroup<TcpConnection>, door: Door) {
    this.#socket = socket;
    this.#number = number;
    this.#shared = shared;
    this.#group = group;
    this.address = plainAddress(socket.remoteAddress);
    this.source = door.source;
    this.#protocols = door.protocols;
    this.lastTick = shared.tick;
    this.deadline = shared.tick + shared.limits.identifySeconds;
    this.#rate = new MessageRate(shared.limits.messagesPerSecond, shared.tick);
    own(socket, this);
  }

  /** Its address as limits count it. */
  get share(): string {
    return this.source.share;
  }

  get id(): string {
    return `${this.#shared.prefix}-${this.#number.toString(36)}`;
  }

  get busy(): boolean {
    return this.#session?.busy === true;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** Whether it waits for us rather than we for it. */
  get waiting(): boolean {
    return this.#blocked || this.busy;
  }

  /** Whether who it is can't be told only because we are slow: its device, a commit or the intake is waited for. */
  get delayed(): boolean {
    return this.busy || (this.#blocked && !this.#throttled);
  }

  /** Bytes of memory that wait with it. */
  get held(): number {
    return this.#held;
  }

  /** Why it is closed when its time to identify is over. */
  get overdue(): CloseCause {
    return this.#refusal ?? this.#http?.overdue ?? "notIdentified";
  }

  get answering(): boolean {
    return this.#http !== undefined && this.busy;
  }

  /** Goes on with the TLS socket that its own has become. */
  adopt(socket: Socket): void {
    if (this.#closed || this.#closing) return void socket.destroy();
    this.#socket = socket;
    own(socket, this);
    if (this.#paused) socket.pause();
  }

  received(chunk: Uint8Array): void {
    if (this.#closing || this.#closed) return;
    this.#shared.counters.received.tcp.add(chunk.length);
    this.lastTick = this.#shared.tick;
    this.#quiet?.restart();
    this.#safely(() => {
      if (this.#stream === undefined) this.#detect(chunk);
      else {
        this.#opening = this.#opening?.follow(chunk);
        this.#stream.push(chunk);
      }
      if (this.#blocked) this.pause();
      else this.#pump();
    });
  }

  ended(): void {
    this.#ended = true;
    this.quieted();
    this.#endWhenDone();
  }

  /** Nothing follows what has arrived, for now or at all. */
  quieted(): void {
    this.#safely(() => {
      if (this.#ended && this.#stream === undefined && this.#opening !== undefined) this.#detect(new Uint8Array(0));
      this.#quiet?.pass();
      if (!this.#blocked && this.#stream !== undefined && this.#stream.unread > 0) this.#pump();
    });
  }

  write(bytes: Uint8Array): void {
    if (this.#closed || this.#closing) return;
    this.#socket.write(bytes);
    if (unsentOf(this.#socket) > this.#shared.limits.unsentBytes) this.close("unread");
  }

  submitted(): void {
    this.#opening = undefined;
  }

  finish(exchange: Exchange): void {
    // More of a burst follow, whose replies are mostly due in the same step.
    if (this.busy) {
      if (unsentOf(this.#socket) > this.#shared.limits.unsentBytes) this.close("unread");
      else gather(this.#socket);
    }
    if (this.#http === undefined) writeReplies(this, exchange);
    else {
      for (const response of this.#http.responses(exchange)) this.write(response);
      if (this.#http.last) this.end();
    }
  }

  reread(doubt: Doubt, ids?: readonly string[]): boolean {
    const opening = this.#opening;
    const protocol = opening?.instead(doubt, ids);
    this.#opening = opening?.doubtful ? opening : undefined;
    if (opening === undefined || protocol === undefined) return false;
    this.#session?.close();
    this.#begin(protocol, opening);
    // Whoever called goes on with what is closed; the bytes are read after that.
    this.#blocked = true;
    queueMicrotask(() => this.resume());
    return true;
  }

  identified(): void {
    this.#refusal = undefined;
    if (this.#http === undefined) {
      this.#group.identified(this);
      return;
    }
    this.#http.known = true;
    this.deadline = this.#shared.tick + this.#shared.limits.httpIdleSeconds;
    this.#group.renewed(this);
  }

  refused(cause: Turned): void {
    if (this.#http !== undefined) return;
    if (cause === "limited") {
      this.close(cause);
      return;
    }
    if (this.#refusal === undefined)
      this.deadline = Math.min(this.#shared.tick + this.#shared.limits.refusedSeconds, this.deadline);
    this.#refusal = cause;
    this.#group.refused(this);
  }

  resume(): void {
    if (this.#blocked) {
      this.#blocked = false;
      this.#throttled = false;
      this.#safely(() => this.#pump());
    } else if (this.#ended) this.#endWhenDone();
  }

  close(cause: CloseCause): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#session?.close();
    this.#stream = undefined;
    this.#opening = undefined;
    this.#quiet?.stop();
    this.#account();
    drop(this.#socket);
    this.#group.closed(this, this.#closing ? "finished" : cause);
  }

  /** Says the last word and closes once the peer took it. */
  end(bytes?: Uint8Array): void {
    if (this.#closed || this.#closing) return;
    if (bytes !== undefined) this.write(bytes);
    this.#closing = true;
    this.deadline = this.#shared.tick + closingSeconds;
    this.#quiet?.stop();
    this.#socket.end();
    // What still comes is passed over; unread, it would hide that the peer has closed.
    this.#socket.resume();
  }

  /** A request that could not be answered in time. */
  giveUp(): void {
    this.end(lastResponse(503));
    this.#session?.close();
  }

  /** Stops reading. */
  pause(cause: "busy" | "memory" = "busy"): void {
    if (this.#paused || this.#closing || this.#closed) return;
    this.#paused = true;
    this.#quiet?.stop();
    this.#shared.counters.paused[cause].add(1);
    this.#socket.pause();
  }

  /** Reads on, unless there is a reason of its own not to. */
  readOn(): void {
    if (this.#blocked || this.#closing || this.#closed || this.#shared.stopping) return;
    if (this.#shared.full || this.source.full) return;
    if (this.#paused) {
      this.#paused = false;
      this.#socket.resume();
    }
    if (this.#stream?.unsettled === true) this.#quiet?.start();
  }

  #detect(chunk: Uint8Array): void {
    const opening = this.#opening ?? new Opening(this.#protocols, "tcp");
    const found = opening.take(chunk, this.#ended);
    this.#opening = found === "undecided" || opening.doubtful ? opening : undefined;
    if (found === "none") this.close("unknownProtocol");
    else if (found !== "undecided") this.#begin(found, opening);
  }

  /** Reads the bytes as what they speak. */
  #begin(found: AnyProtocol | "http", opening: Opening): void {
    if (found === "http") this.#http = new HttpResponder(this.#protocols, this.#shared.cors);
    else this.#session = new Session(this.#shared, this, found, "tcp");
    this.#quiet?.stop();
    this.#quiet = found === "http" || found.framer.settle === undefined ? undefined : new QuietTimer(this);
    this.#skipped = 0;
    this.#stream = opening.stream(found, this.#shared.limits.junkBytes);
  }

  /** Gives messages to the session as long as it takes them. */
  #pump(): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    const receivedAt = this.#shared.deps.clock.now();
    while (this.#stream === stream && this.#mayTake()) {
      const frame = this.#quiet?.over === true ? stream.settled() : stream.next();
      if (typeof frame === "string") {
        if (frame === "junk") this.#junk(stream);
        else this.#drained(stream);
        return;
      }
      this.#rate.spend();
      if (!this.#skips(stream)) return;
      this.#sessionOf(frame)?.take(frame, receivedAt);
    }
  }

  /** Whether a further message may be taken now; where not, whoever makes it possible again calls `resume`. */
  #mayTake(): boolean {
    if (this.#closed || this.#closing) return false;
    const session = this.#session;
    if (this.#shared.stopping) this.pause();
    else if (session?.ready === false) this.#waitForSession(session);
    else if (this.#rate.allows(this.#shared.tick)) return true;
    else this.#throttle();
    return false;
  }

  /** Who takes a message. Over HTTP each request tells its protocol: a proxy's connection has those of many phones. */
  #sessionOf(message: Uint8Array): Session | undefined {
    if (this.#http === undefined) return this.#session;
    const found = this.#http.begin(message);
    if (found instanceof Uint8Array) {
      this.write(found);
      if (this.#http.last) this.end();
      return undefined;
    }
    if (found !== this.#session?.protocol) {
      this.#session?.close();
      this.#session = new Session(this.#shared, this, found, "http");
    }
    return this.#session;
  }

  /** Everything that arrived is with the session. */
  #drained(stream: FrameStream): void {
    if (!this.#skips(stream)) return;
    // From its first byte a request has so long, however its bytes trickle in.
    if (stream.unread > 0 && this.#http?.begins() === true)
      this.deadline = Math.min(this.deadline, this.#shared.tick + this.#shared.limits.httpRequestSeconds);
    this.readOn();
    if (this.#ended) this.#endWhenDone();
  }

  #junk(stream: FrameStream): void {
    this.#countSkipped(stream);
    if (this.#http !== undefined) this.end(lastResponse(400));
    else this.close("junk");
  }

  /** Counts what was passed over. Gives whether the stream is still good. */
  #skips(stream: FrameStream): boolean {
    if (stream.skipped === this.#skipped) return true;
    // Where a malformed request ends, nobody can tell.
    if (this.#http !== undefined) this.#junk(stream);
    else if (!this.reread("failed")) this.#countSkipped(stream);
    return this.#stream === stream && this.#http === undefined;
  }

  #countSkipped(stream: FrameStream): void {
    this.#session?.skipped(stream.skipped - this.#skipped);
    this.#skipped = stream.skipped;
  }

  #waitForSession(session: Session): void {
    this.#blocked = true;
    // The message at hand must stay as it is until its device is known; otherwise a pause when more comes is enough.
    if (session.suspended) this.pause();
    else if (session.heldBack) this.#group.congested(this);
  }

  #throttle(): void {
    this.#blocked = true;
    this.#throttled = true;
    this.#shared.counters.paused.rate.add(1);
    this.#group.throttled(this);
  }

  /** Tells how much memory waits with it now. */
  #account(): void {
    const held = (this.#stream?.held ?? 0) + (this.#opening?.bytes.length ?? 0);
    const change = held - this.#held;
    if (change === 0) return;
    this.#held = held;
    this.#group.buffered(change, this.source);
  }

  #endWhenDone(): void {
    if (this.#closed || this.#closing || this.#blocked || this.busy) return;
    // The last answers of a burst are perhaps still on their way.
    if (this.#socket.writableLength > 0) this.end();
    else this.close("peer");
  }

  /** A defect of ours ends one connection, never the process. */
  #safely(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#shared.deps.log.error({ connection: this.id, address: this.address, error }, "defect");
      this.close("internal");
    }
    this.#account();
  }
}
