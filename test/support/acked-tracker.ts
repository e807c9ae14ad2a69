import { createSocket } from "node:dgram";
import { connect } from "node:net";
import type { AnyProtocol, SimulatedDevice, SimulatedReport } from "../../src/wire/protocol.ts";

/**
 * The report of a number: its position and time are made from it, so that what is stored can be checked against what
 * was sent.
 */
export function numberedReport(start: number, number: number): SimulatedReport {
  return {
    time: start + number * 1000,
    latitude: 40 + (number % 10_000) / 10_000,
    longitude: 10 + (number % 7_000) / 10_000,
    altitude: 100,
    speed: 36,
    course: 90,
    satellites: 9,
    ignition: true,
    battery: 80,
  };
}

/** How a tracker speaks: the bytes of its messages, and what the service's bytes mean to it. */
export interface Speech {
  readonly transport: "tcp" | "udp";
  /** What it says first on a connection. */
  readonly login?: ((device: string, serial: number) => Uint8Array) | undefined;
  /** The bytes of a message, the same for each time that it is sent but for the serial. */
  readonly message: (device: string, index: number, serial: number) => Uint8Array;
  readonly answer: NonNullable<SimulatedDevice["answer"]>;
}

/** A tracker of a protocol that acknowledges: each message is the report of its number. */
export function speechOf(protocol: AnyProtocol, start: number): Speech {
  const { simulate } = protocol;
  if (simulate?.answer === undefined) throw new Error(`${protocol.id} acknowledges nothing`);
  const { answer, login, report } = simulate;
  return {
    transport: "tcp",
    login,
    answer,
    message: (device, index, serial) => report(device, [numberedReport(start, index)], serial),
  };
}

/** Time after which a datagram that nobody answered is sent again, ms. */
const resendMs = 200;

/**
 * A tracker with one message in flight. What is acknowledged counts as the service's promise; what is not is sent
 * again, on the next connection at the latest, exactly as it was.
 */
export class AckedTracker {
  readonly device: string;
  /** Messages that the service acknowledged: those below this number. */
  acked = 0;
  /** Messages that were ever sent: those below this number. */
  sent = 0;
  readonly #speech: Speech;
  #drop: () => void = () => undefined;
  #finish: (() => void) | undefined;

  constructor(device: string, speech: Speech) {
    this.device = device;
    this.#speech = speech;
  }

  /** Whether it sends again by itself what is not acknowledged; else it does on its next connection. */
  get repeats(): boolean {
    return this.#speech.transport === "udp";
  }

  /**
   * Connects and reports without a pause until the connection ends, which `ended` is told. Without `ended`, a refused
   * message is an error; else it ends the connection.
   */
  run(port: number, ended?: () => void): void {
    if (this.#speech.transport === "udp") this.#runUdp(port);
    else this.#runTcp(port, ended);
  }

  /** Resolves when the message in flight is acknowledged; no other one is sent after it on this connection. */
  finish(): Promise<void> {
    return new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** Drops the connection without a word. */
  drop(): void {
    this.#drop();
  }

  /** Counts the message in flight. True: it was the last one. */
  #acknowledged(): boolean {
    this.acked++;
    const finish = this.#finish;
    this.#finish = undefined;
    finish?.();
    return finish !== undefined;
  }

  #next(serial: number): Uint8Array {
    this.sent = Math.max(this.sent, this.acked + 1);
    return this.#speech.message(this.device, this.acked, serial);
  }

  #runTcp(port: number, ended: (() => void) | undefined): void {
    const { login, answer } = this.#speech;
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.#drop = () => socket.destroy();
    let serial = 1;
    let loggedIn = login === undefined;
    let buffered = Buffer.alloc(0);
    socket.on("error", () => socket.destroy());
    if (ended !== undefined) socket.on("close", ended);
    socket.on("connect", () => socket.write(login?.(this.device, serial++) ?? this.#next(serial++)));
    socket.on("data", (chunk: Buffer) => {
      buffered = Buffer.concat([buffered, chunk]);
      for (;;) {
        const read = answer(buffered);
        if (read === "more") return;
        buffered = buffered.subarray(read.length);
        if (!read.accepted && ended === undefined) throw new Error(`${this.device} was refused`);
        if (!read.accepted) {
          socket.destroy();
          return;
        }
        if (loggedIn && this.#acknowledged()) return;
        loggedIn = true;
        socket.write(this.#next(serial++));
      }
    });
  }

  #runUdp(port: number): void {
    const socket = createSocket("udp4");
    let serial = 1;
    let timer: NodeJS.Timeout | undefined;
    const send = (bytes: Uint8Array) => {
      clearTimeout(timer);
      timer = setTimeout(() => send(bytes), resendMs);
      socket.send(bytes, port, "127.0.0.1");
    };
    this.#drop = () => {
      this.#drop = () => undefined;
      clearTimeout(timer);
      socket.close();
    };
    socket.on("error", () => undefined);
    socket.on("message", (bytes) => {
      const read = this.#speech.answer(bytes);
      // An answer to what was sent twice, or before: nothing is promised by it.
      if (read === "more" || !read.accepted || bytes[5] !== (serial & 0xff)) return;
      // Answers to what was sent twice may follow.
      if (this.#acknowledged()) this.#drop();
      else send(this.#next(++serial & 0xff));
    });
    send(this.#next(serial));
  }
}
