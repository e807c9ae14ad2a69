import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { eventFrame } from "../domain/live/frame.ts";
import type { Listener, Taken } from "../domain/live/listener.ts";
import type { Live } from "../domain/live/live.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Counter, Metrics } from "../ports/metrics.ts";
import { Spread } from "../shares/spread.ts";
import { fixedLimits, type StreamLimits } from "./limits.ts";

/**
 * Bytes that may wait for the reader of a stream, about: some hundred events. What else it is owed is made when it has
 * read them.
 */
const mostUnread = 65_536;
/**
 * Time from one round of all streams to the next, ms: what changes meanwhile goes out together. Nobody sees a tenth of
 * a second.
 */
const roundMs = 100;
/**
 * A round that took long is followed by a pause this many times as long: streams take a quarter of the main thread at
 * most, and reports go on.
 */
const restTimes = 3;
/** Work of a round in one turn of the event loop, ms. */
const turnMs = 4;
/** Streams that go on in one turn because they have more to read. */
const goOnAtOnce = 8;
/** How often rights are asked for again, ms. */
const lookMs = 1000;
/** Silence after which a stream says that it is there, ms: shorter than the patience of proxies, often 30 s. */
const heartbeatMs = 15_000;

/** A stream that is open. */
interface Stream {
  readonly user: Pick<User, "key" | "accountKey">;
  readonly answer: ServerResponse;
  readonly listener: Listener;
  /** A device's state is being read for it. */
  reading: boolean;
  /** It has begun to be sent. */
  begun: boolean;
  /** When something was last written, monotonic ms. */
  wroteAt: number;
}

/** What streams need of the service. */
export interface StreamsContext {
  readonly live: Live;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The streams that are open, and what is sent on them. */
export class Streams {
  readonly #context: StreamsContext;
  readonly #limits: StreamLimits;
  readonly #streams = new Set<Stream>();
  /** Streams that are open or being opened, of each user and of each account. */
  readonly #ofUser = new Map<number, number>();
  readonly #ofAccount = new Map<number, number>();
  #taken = 0;
  readonly #events: Counter;
  readonly #goOn = new Spread<Stream>(goOnAtOnce, (stream) => this.#send(stream));
  #looking: NodeJS.Timeout | undefined;
  #round: NodeJS.Timeout | undefined;
  #inRound = false;
  /** Something has changed since the round at work began. */
  #due = false;
  #notBefore = 0;
  #stopped = false;

  constructor(context: StreamsContext, limits: StreamLimits) {
    this.#context = context;
    this.#limits = limits;
    context.live.onChange = () => this.#changed();
    context.metrics.gauge("waybeam_streams", "Live streams that are open.", () => this.#streams.size);
    this.#events = context.metrics.counter("waybeam_stream_events_total", "Events sent on live streams.", [])({});
  }

  /**
   * Opens a stream as the body of an answer. It closes with the answer.
   * @throws ApiError `tooManyRequests`, `unavailable` where too many are open
   */
  async open(answer: ServerResponse, user: User, listen: () => Promise<Listener>): Promise<Readable> {
    if (this.#stopped) throw new ApiError("unavailable", [], fixedLimits.retrySoonSeconds);
    this.#take(user);
    let stream: Stream | undefined;
    const { socket } = answer;
    const gone = () => answer.destroy();
    answer.once("close", () => {
      // Other requests may follow on the connection.
      socket?.off("end", gone);
      this.#give(user);
      if (stream !== undefined) this.#close(stream);
    });
    // A client may end its side and wait for its answer; this answer has no end, so who ends its side is gone.
    socket?.once("end", gone);
    const listener = await listen();
    const { clock, live } = this.#context;
    if (answer.destroyed || answer.headersSent || answer.socket?.readableEnded === true) {
      live.close(user.accountKey, listener);
      throw new ApiError("badRequest", ["the connection was closed"]);
    }
    const made = { user, answer, listener, reading: false, begun: false, wroteAt: clock.monotonic() };
    stream = made;
    this.#streams.add(made);
    this.#looking ??= setInterval(() => this.#look(), lookMs);
    return new StreamBody(() => this.#begin(made));
  }

  /** Ends all streams; their clients connect to whoever answers next. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#looking);
    clearTimeout(this.#round);
    for (const stream of this.#streams) {
      stream.answer.end();
      this.#close(stream);
    }
    this.#context.live.stop();
  }

  #take({ key, accountKey }: User): void {
    const { perUser, perAccount, inAll } = this.#limits;
    const retry = fixedLimits.retrySoonSeconds;
    const own = this.#ofUser.get(key) ?? 0;
    const account = this.#ofAccount.get(accountKey) ?? 0;
    if (own >= perUser) throw new ApiError("tooManyRequests", [`${perUser} streams of the user are open`], retry);
    if (account >= perAccount)
      throw new ApiError("tooManyRequests", [`${perAccount} streams of the account are open`], retry);
    if (this.#taken >= inAll) throw new ApiError("unavailable", [`${inAll} streams are open`], retry);
    this.#taken++;
    this.#ofUser.set(key, own + 1);
    this.#ofAccount.set(accountKey, account + 1);
  }

  #give({ key, accountKey }: User): void {
    this.#taken--;
    countDown(this.#ofUser, key);
    countDown(this.#ofAccount, accountKey);
  }

  #begin(stream: Stream): void {
    stream.begun = true;
    // Until the first event the client would not know that it is connected.
    stream.answer.flushHeaders();
    stream.answer.on("drain", () => this.#send(stream));
    this.#goOn.add(stream);
  }

  #close(stream: Stream): void {
    if (this.#streams.delete(stream)) this.#context.live.close(stream.user.accountKey, stream.listener);
  }

  #changed(): void {
    if (this.#inRound) this.#due = true;
    else this.#plan();
  }

  #plan(): void {
    if (this.#round !== undefined || this.#streams.size === 0 || this.#stopped) return;
    const wait = Math.max(0, this.#notBefore - this.#context.clock.monotonic());
    this.#round = setTimeout(() => {
      this.#round = undefined;
      void this.#sendAll();
    }, wait);
  }

  /** One round: what there is, to all who have read what was before. */
  async #sendAll(): Promise<void> {
    const { clock, live } = this.#context;
    this.#inRound = true;
    this.#due = false;
    let worked = 0;
    let turn = clock.monotonic();
    for (const stream of this.#streams) {
      this.#send(stream);
      const took = clock.monotonic() - turn;
      if (took < turnMs) continue;
      worked += took;
      await new Promise((resolve) => setImmediate(resolve));
      turn = clock.monotonic();
    }
    live.told();
    const now = clock.monotonic();
    this.#notBefore = now + Math.max(roundMs, restTimes * (worked + now - turn));
    this.#inRound = false;
    if (this.#due) this.#plan();
  }

  #send(stream: Stream): void {
    const { answer, listener } = stream;
    if (!stream.begun || stream.reading || answer.destroyed || answer.writableLength > mostUnread) return;
    if (listener.ended !== undefined) {
      this.#end(stream, listener.ended);
      return;
    }
    const taken = listener.take(mostUnread);
    if (taken instanceof Promise) this.#writeLater(stream, taken);
    else this.#write(stream, taken);
  }

  #writeLater(stream: Stream, taken: Promise<Taken>): void {
    stream.reading = true;
    taken
      .finally(() => {
        stream.reading = false;
      })
      .then(
        (read) => this.#write(stream, read),
        // The next look tries again.
        (error: unknown) => this.#context.log.warn({ error }, "a stream waits for what it tells next"),
      );
  }

  #write(stream: Stream, { frames, more }: Taken): void {
    const { answer } = stream;
    if (answer.destroyed) return;
    let goesOn = true;
    if (frames.length > 0) {
      const [first] = frames;
      goesOn = answer.write(frames.length === 1 ? first : Buffer.concat(frames));
      stream.wroteAt = this.#context.clock.monotonic();
      this.#events.add(frames.length);
    }
    // Otherwise it goes on when the reader has read.
    if (more && goesOn) this.#goOn.add(stream);
  }

  #end(stream: Stream, error: ApiError): void {
    const data = { error: error.kind.text };
    stream.answer.end(eventFrame("end", JSON.stringify(data)));
    this.#close(stream);
  }

  #look(): void {
    const { live, clock } = this.#context;
    live.look();
    const now = clock.monotonic();
    for (const stream of this.#streams) {
      const { answer, listener } = stream;
      if (stream.begun && now - stream.wroteAt >= heartbeatMs && answer.writableLength === 0) {
        const { cursor } = listener;
        // With an id alone, a client remembers the place, and hears of no event.
        answer.write(cursor === undefined ? ": \n\n" : `: \nid: ${cursor}\n\n`);
        stream.wroteAt = now;
      }
    }
    this.#changed();
  }
}

/** The body of an answer with a stream, for `pipe` alone. */
class StreamBody extends Readable {
  readonly #begin: () => void;

  constructor(begin: () => void) {
    super();
    this.#begin = begin;
  }

  override pipe<T extends NodeJS.WritableStream>(answer: T): T {
    this.#begin();
    return answer;
  }

  override _read(): void {
    // Nothing is ever read from it: events go to the answer as they are.
  }
}

function countDown(counts: Map<number, number>, key: number): void {
  const left = (counts.get(key) ?? 0) - 1;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
}
