import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { atEnd } from "./at-end.ts";

/** What stands between a program and a server, and does to their connections what networks do. */
export class TcpProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #to: number;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #losesAnswerTo: string | undefined;
  /** What a connection must have sent for the next two, and those that have. */
  #behind = "";
  readonly #meant = new Set<Socket>();
  #silent = false;
  #silentAt: string | undefined;
  #answered: { readonly text: string; readonly answer: Buffer } | undefined;
  /** Sees everything that is sent to the server. */
  onSent: (bytes: Buffer) => void = () => undefined;

  private constructor(server: Server, port: number, to: number) {
    this.#server = server;
    this.port = port;
    this.#to = to;
    server.on("connection", (client) => this.#join(client));
    atEnd(() => this.close());
  }

  static async start(to: number): Promise<TcpProxy> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port is free");
    return new TcpProxy(server, address.port, to);
  }

  /**
   * The next message that holds this text reaches the server. Its answer does not come back: the connection breaks once
   * the server has taken it. `behind`: it comes on a connection that has sent this text since now.
   */
  loseAnswerTo(text: string, behind = ""): void {
    this.#losesAnswerTo = text;
    this.#watchFor(behind);
  }

  /** The next message that holds this text does not reach the server: the proxy answers, and breaks the connection. */
  answerTo(text: string, answer: Buffer): void {
    this.#answered = { text, answer };
  }

  /** From the next message on that holds this text nothing goes through, and no side is told. `behind`: as above. */
  silentAt(text: string, behind = ""): void {
    this.#silentAt = text;
    this.#watchFor(behind);
  }

  #watchFor(behind: string): void {
    this.#behind = behind;
    this.#meant.clear();
  }

  get silent(): boolean {
    return this.#silent;
  }

  /** From now on nothing goes through, and no side is told. */
  set silent(silent: boolean) {
    this.#silent = silent;
    for (const pair of this.#pairs) for (const socket of pair) silent ? socket.pause() : socket.resume();
  }

  /** Breaks every connection. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }

  #join(client: Socket): void {
    const server = connect(this.#to, "127.0.0.1");
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    const end = () => {
      this.#pairs.delete(pair);
      this.#meant.delete(client);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.on("error", end).on("close", end);
    let isLost = false;
    client.on("data", (bytes: Buffer) => {
      this.onSent(bytes);
      if (bytes.includes(this.#behind)) this.#meant.add(client);
      const isMeant = this.#meant.has(client);
      if (isMeant && this.#silentAt !== undefined && bytes.includes(this.#silentAt)) {
        this.#silentAt = undefined;
        this.silent = true;
      }
      if (this.#silent) return;
      if (this.#answered !== undefined && bytes.includes(this.#answered.text)) {
        client.end(this.#answered.answer);
        this.#answered = undefined;
        return;
      }
      if (isMeant && this.#losesAnswerTo !== undefined && bytes.includes(this.#losesAnswerTo)) {
        this.#losesAnswerTo = undefined;
        isLost = true;
      }
      server.write(bytes);
    });
    server.on("data", (bytes) => {
      if (isLost) end();
      else client.write(bytes);
    });
    if (this.#silent) for (const socket of pair) socket.pause();
  }
}
