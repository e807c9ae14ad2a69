import { quietMs } from "../wire/framing.ts";

/** Who is told. */
interface Listener {
  /** Nothing follows what has arrived, for now or at all. */
  quieted(): void;
}

function tell(listener: Listener): void {
  listener.quieted();
}

/** The quiet time of a stream whose messages do not tell their end: see `Framer.settle`. */
export class QuietTimer {
  readonly #listener: Listener;
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(listener: Listener) {
    this.#listener = listener;
  }

  /** Nothing followed the bytes that wait: they are to be read as they are. */
  get over(): boolean {
    return this.#over;
  }

  /** Bytes came. */
  restart(): void {
    this.#over = false;
    this.stop();
  }

  /** Bytes wait, and the socket is read: from now on it counts whether something follows. */
  start(): void {
    if (!this.#over) this.#timer ??= setTimeout(tell, quietMs, this.#listener);
  }

  /** While the socket is not read, nobody can tell. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** The time has passed, or the stream is at its end. */
  pass(): void {
    this.#over = true;
    this.stop();
  }
}
