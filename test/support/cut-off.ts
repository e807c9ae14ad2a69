import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { atEnd } from "./at-end.ts";

/**
 * What becomes of a connection when its client sends a commit. `unheard`: the server gets it, and its answer is lost ·
 * `unsent`: the server does not get it, nor that the client is gone · `late`: the client loses the connection, and the
 * server gets the commit some time afterwards, and not that the client is gone.
 */
export type CutOff = "unheard" | "unsent" | "late";

/** How long a late commit takes, ms. */
const lateMs = 300;
/** How long the server has for a commit whose answer is lost, ms. */
const answerMs = 30;
const commits = ["\0commit\0", "append_positions\0"].map((text) => Buffer.from(text));

/** A network between a service and its server that loses what a test says. */
export class Network {
  readonly port: number;
  readonly #server: Server;
  readonly #pairs = new Set<readonly [client: Socket, server: Socket]>();
  readonly #target: number;
  /** What becomes of the next connection that sends a commit. */
  next: CutOff | undefined;
  /** Connections that were cut off by `next`. */
  cuts = 0;
  /** While it is set nothing comes through. */
  frozen = false;

  private constructor(server: Server, port: number, target: number) {
    this.#server = server;
    this.port = port;
    this.#target = target;
    server.on("connection", (client) => this.#join(client));
    atEnd(() => this.close());
  }

  static async before(target: number): Promise<Network> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port is free");
    return new Network(server, address.port, target);
  }

  /** An address by way of this network. */
  through(url: string): string {
    const changed = new URL(url);
    changed.port = String(this.port);
    return changed.href;
  }

  /** Ends all connections at once. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #join(client: Socket): void {
    const server = connect({ port: this.#target, host: "127.0.0.1", noDelay: true });
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    let isCut = false;
    for (const socket of pair) {
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        // A server is not told that a client is gone where the network was cut between them.
        if (isCut || this.frozen) return;
        for (const other of pair) other.destroy();
        this.#pairs.delete(pair);
      });
    }
    server.on("data", (bytes) => {
      if (!isCut && !this.frozen) client.write(bytes);
    });
    client.on("data", (bytes: Buffer) => {
      if (isCut || this.frozen) return;
      const how = this.next;
      if (how === undefined || !commits.some((commit) => bytes.includes(commit))) {
        server.write(bytes);
        return;
      }
      this.next = undefined;
      this.cuts++;
      isCut = true;
      void this.#lose(how, client, server, bytes);
    });
  }

  async #lose(how: CutOff, client: Socket, server: Socket, bytes: Buffer): Promise<void> {
    if (how === "unheard") {
      server.write(bytes);
      await pause(answerMs);
      client.destroy();
      server.destroy();
      return;
    }
    client.destroy();
    if (how === "unsent") return;
    await pause(lateMs);
    if (!server.destroyed) server.write(bytes);
  }
}
