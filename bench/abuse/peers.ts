import { createSocket, type Socket as DatagramSocket } from "node:dgram";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { AvlPacket, avlLogin } from "../support/avl.ts";
import type { Scene } from "./attempt.ts";
import { attackerAddress } from "./stage.ts";
import { wait } from "./tally.ts";

/** How a line is opened. */
interface LineOptions {
  readonly from?: string;
  /** Whether what comes is read; else it piles up at the service. */
  readonly reads?: boolean;
}

/** A connection whose bytes an attempt writes itself. */
export class Line {
  readonly socket: Socket;
  /** Bytes that came. */
  received = 0;
  /** The first of them, as Latin-1. */
  head = "";
  /** Whether it was ever open. */
  opened = false;
  closed = false;

  constructor(port: number, { from = attackerAddress, reads = true }: LineOptions = {}) {
    this.socket = connect({ port, host: "127.0.0.1", localAddress: from, noDelay: true });
    this.socket.on("connect", () => {
      this.opened = true;
    });
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.closed = true;
    });
    if (reads)
      this.socket.on("data", (chunk: Buffer) => {
        this.received += chunk.length;
        if (this.head.length < 4096) this.head += chunk.toString("latin1");
      });
  }

  send(bytes: Uint8Array | string): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  /** Writes as fast as they are taken, as long as `goesOn`; gives how many bytes were. */
  async pour(bytes: () => Uint8Array | string, goesOn: () => boolean): Promise<number> {
    while (goesOn() && !this.closed) {
      const taken = !this.socket.writable || this.socket.write(bytes());
      if (taken) await wait(1);
      else {
        const waited = new AbortController();
        const either = ["drain", "close"].map((name) => once(this.socket, name, waited).catch(() => {}));
        await Promise.race([...either, wait(100)]);
        waited.abort();
      }
    }
    return this.socket.bytesWritten;
  }

  /** Whether the condition came true within some time, while the line was open. */
  async until(condition: () => boolean, ms: number): Promise<boolean> {
    for (const end = performance.now() + ms; performance.now() < end && !this.closed; await wait(5))
      if (condition()) return true;
    return condition();
  }

  end(): void {
    this.socket.destroy();
  }
}

/** Time in which the service is to answer an attacker, ms: no limit of what is good, only the end of waiting. */
export const patienceMs = 20_000;

/** A tracker of the attacker over TCP (Codec 8). */
export class Tracker {
  readonly line: Line;

  private constructor(line: Line) {
    this.line = line;
  }

  static async login(scene: Scene, id: string, from?: string): Promise<Tracker> {
    const line = new Line(scene.devicePort, { ...(from !== undefined && { from }) });
    line.send(avlLogin(id));
    await line.until(() => line.received > 0, patienceMs);
    return new Tracker(line);
  }

  /** Whether it was let in. */
  get known(): boolean {
    return this.line.head.charCodeAt(0) === 1;
  }

  /** Packets that were answered. */
  get answered(): number {
    return Math.floor((this.line.received - 1) / 4);
  }

  /** Waits until a number of packets were answered. */
  answeredAll(count: number): Promise<boolean> {
    return this.line.until(() => this.answered >= count, patienceMs);
  }
}

/** A packet of consecutive positions from a time on, with bytes of its own. */
export function packet(records: number, time: number, step: number): Uint8Array {
  const made = new AvlPacket(records);
  made.move(time, step);
  return made.bytes;
}

/** A report over HTTP: parameters of OsmAnd, as a form, which holds more than a query. */
export function report(id: string, parameters: Readonly<Record<string, string | number>>): string {
  const query = new URLSearchParams({ id });
  for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
  const body = String(query);
  const type = "application/x-www-form-urlencoded";
  return `POST / HTTP/1.1\r\nHost: waybeam\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Sends datagrams from one address and port. */
export class Datagrams {
  readonly #socket: DatagramSocket;
  readonly #port: number;
  answers = 0;

  private constructor(socket: DatagramSocket, port: number) {
    this.#socket = socket;
    this.#port = port;
    socket.on("message", () => this.answers++);
    socket.on("error", () => {});
  }

  static async open(port: number, from = attackerAddress): Promise<Datagrams> {
    const socket = createSocket("udp4");
    socket.bind(0, from);
    await once(socket, "listening");
    return new Datagrams(socket, port);
  }

  send(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#socket.send(bytes, this.#port, "127.0.0.1", () => resolve()));
  }

  end(): void {
    this.#socket.close();
  }
}
