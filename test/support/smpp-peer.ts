import { once } from "node:events";
import type { Pdu, Server, Session } from "smpp";
import smpp from "../../src/notify/smpp-library.ts";

/** How the peer answers a submit: a status, or not at all, or by breaking the connection. */
export type Reaction = number | "silent" | "break";

/** An SMPP gateway on a real socket of this machine. */
export class SmppPeer {
  readonly binds: Pdu[] = [];
  readonly submits: Pdu[] = [];
  readonly #server: Server;
  readonly #sessions = new Set<Session>();
  readonly #watchers = new Set<() => void>();
  #nextId = 1;
  unbinds = 0;
  enquiries = 0;
  /** The status of each answer to a receipt. */
  readonly receiptAnswers: number[] = [];
  /** The most submits that waited for an answer at a time. */
  mostOpen = 0;
  bindStatus = 0;
  /** Does not answer enquire_link. */
  deaf = false;
  /** Answers to submits are held back until `release`. */
  held: (() => void)[] | undefined;
  react: (submit: Pdu, index: number) => Reaction = () => 0;

  constructor() {
    this.#server = smpp.createServer((session) => this.#accept(session));
  }

  /** Starts it and gives its port. */
  async listen(port = 0, host = "127.0.0.1"): Promise<number> {
    this.#server.listen(port, host);
    await once(this.#server, "listening");
    return Number(Reflect.get(Object(this.#server.address()), "port"));
  }

  /** Breaks all connections, without a word. */
  drop(): void {
    for (const session of this.#sessions) session.destroy();
  }

  async close(): Promise<void> {
    this.drop();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, "close");
  }

  /** Sends a request to every bound client. */
  tell(command: string, fields: Readonly<Record<string, unknown>>): void {
    for (const session of this.#sessions) session.send(new smpp.PDU(command, fields));
  }

  /** Raw bytes to every client. */
  raw(bytes: Buffer): void {
    for (const session of this.#sessions) session.socket.write(bytes);
  }

  /** Resolves when the condition holds. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition())
      await new Promise<void>((resolve) => {
        this.#watchers.add(resolve);
      });
  }

  release(): void {
    const held = this.held ?? [];
    this.held = undefined;
    for (const answer of held) answer();
  }

  #accept(session: Session): void {
    this.#sessions.add(session);
    session.on("close", () => {
      this.#sessions.delete(session);
      this.#changed();
    });
    session.on("error", () => session.destroy());
    session.on("pdu", (pdu: Pdu) => {
      this.#receive(session, pdu);
      this.#changed();
    });
  }

  #receive(session: Session, pdu: Pdu): void {
    switch (pdu.command) {
      case "bind_transceiver":
        this.binds.push(pdu);
        session.send(pdu.response({ command_status: this.bindStatus, system_id: "peer" }));
        return;
      case "enquire_link":
        this.enquiries++;
        if (!this.deaf) session.send(pdu.response());
        return;
      case "unbind":
        this.unbinds++;
        session.send(pdu.response());
        return;
      case "deliver_sm_resp":
        this.receiptAnswers.push(pdu.command_status);
        return;
      case "submit_sm":
        this.#submitted(session, pdu);
    }
  }

  #submitted(session: Session, pdu: Pdu): void {
    const reaction = this.react(pdu, this.submits.length);
    this.submits.push(pdu);
    if (reaction === "silent") return;
    if (reaction === "break") {
      session.destroy();
      return;
    }
    const response = pdu.response({ command_status: reaction, message_id: `m${this.#nextId++}` });
    if (this.held === undefined) session.send(response);
    else {
      this.held.push(() => session.send(response));
      this.mostOpen = Math.max(this.mostOpen, this.held.length);
    }
  }

  #changed(): void {
    for (const resolve of this.#watchers) resolve();
    this.#watchers.clear();
  }
}
