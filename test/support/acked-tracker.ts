import { connect, type Socket } from "node:net";
import type { AnyProtocol, SimulatedReport } from "../../src/wire/protocol.ts";

/** A report's position is made from its number, so that what is stored can be checked against what was sent. */
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

/**
 * A tracker with one message in flight, over a protocol that acknowledges. What is acknowledged counts as the server's promise;
 * what is not is sent again on the next connection, exactly as it was.
 */
export class AckedTracker {
  readonly device: string;
  /** Reports that the service acknowledged: numbers below this one. */
  acked = 0;
  /** Reports that were ever sent. */
  sent = 0;
  /** Times of everything acknowledged and everything sent, epoch ms. */
  readonly start: number;
  readonly #protocol: AnyProtocol;
  readonly #perMessage: number;
  #socket: Socket | undefined;

  constructor(protocol: AnyProtocol, device: string, start: number, perMessage: number) {
    this.#protocol = protocol;
    this.device = device;
    this.start = start;
    this.#perMessage = perMessage;
  }

  /** Connects and reports without a pause until the connection ends. */
  run(port: number): void {
    const { simulate } = this.#protocol;
    if (simulate?.answer === undefined) throw new Error(`${this.#protocol.id} acknowledges nothing`);
    const { answer, login, report } = simulate;
    const socket = connect(port, "127.0.0.1");
    this.#socket = socket;
    let serial = 1;
    let buffered = Buffer.alloc(0);
    let inFlight = 0;
    const send = () => {
      inFlight = this.#perMessage;
      const numbers = Array.from({ length: inFlight }, (_, index) => this.acked + index);
      this.sent = Math.max(this.sent, this.acked + inFlight);
      socket.write(
        report(
          this.device,
          numbers.map((number) => numberedReport(this.start, number)),
          serial++,
        ),
      );
    };
    socket.setNoDelay(true);
    socket.on("error", () => socket.destroy());
    socket.on("connect", () => {
      if (login === undefined) send();
      else socket.write(login(this.device, serial++));
    });
    socket.on("data", (chunk: Buffer) => {
      buffered = Buffer.concat([buffered, chunk]);
      for (;;) {
        const read = answer(buffered);
        if (read === "more") return;
        buffered = buffered.subarray(read.length);
        if (!read.accepted) throw new Error(`${this.device} was refused`);
        this.acked += inFlight;
        send();
      }
    });
  }

  /** Drops the connection without a word. */
  drop(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }
}
