import type { Pdu, Session } from "smpp";
import { addressOfHost } from "./address.ts";
import smpp from "./smpp-library.ts";

/** How the gateway is reached, and who we are to it. */
export interface LinkOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly systemId: string;
  readonly password: string;
  readonly systemType: string;
  /** Time for the connection with its bind, and for each answer unless a request says another. */
  readonly answerMs: number;
  readonly enquireMs: number;
}

/** What a link tells of itself. */
export interface LinkListener {
  bound(): void;
  /** A deliver_sm or data_sm came; the link answers it when this has told whether it is taken. Never rejects. */
  message(pdu: Pdu): Promise<boolean>;
  /** Said once, also where it never was bound. */
  closed(reason: string): void;
}

/**
 * The peer's answer to a request. `unsent`: it was not written · `timeout` · `lost`: it was written, then the
 * connection ended.
 */
export type Answer = { readonly pdu: Pdu } | "unsent" | "timeout" | "lost";

interface Pending {
  readonly resolve: (answer: Answer) => void;
  readonly timer: NodeJS.Timeout;
}

/** One connection to the gateway, bound as a transceiver: from its start to its end, never used again after that. */
export class SmppLink {
  readonly #options: LinkOptions;
  readonly #listener: LinkListener;
  readonly #session: Session;
  readonly #pending = new Map<number, Pending>();
  readonly #bindTimer: NodeJS.Timeout;
  #enquireTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: LinkOptions, listener: LinkListener) {
    this.#options = options;
    this.#listener = listener;
    const { host, port, tls } = options;
    // The runtime refuses an address as a server's name in TLS; it checks the certificate against the host all the
    // same.
    const named = tls && addressOfHost(host) === undefined;
    this.#session = smpp.connect({ host, port, tls, ...(named && { servername: host }) });
    this.#session.on(tls ? "secureConnect" : "connect", () => void this.#bind());
    this.#session.on("pdu", (pdu: Pdu) => this.#receive(pdu));
    this.#session.on("error", (error: NodeJS.ErrnoException) => this.#end(error.code ?? "what it sent is no SMPP"));
    this.#session.on("close", () => this.#end("it closed the connection"));
    this.#bindTimer = setTimeout(() => this.#end("no answer to the bind in time"), options.answerMs);
  }

  /** Sends a request and waits for its answer. Fields that don't fit the command are a defect of the caller. */
  request(
    command: string,
    fields: Readonly<Record<string, unknown>> = {},
    waitMs: number = this.#options.answerMs,
  ): Promise<Answer> {
    const pdu = new smpp.PDU(command, fields);
    if (this.#closed || !this.#session.send(pdu)) return Promise.resolve("unsent");
    const number = pdu.sequence_number;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(number, "timeout"), waitMs);
      this.#pending.set(number, { resolve, timer });
    });
  }

  /** Unbinds, waits for the answer as long as for any other, and closes. */
  async close(): Promise<void> {
    if (this.#enquireTimer !== undefined) await this.request("unbind");
    this.#end("closed by us");
  }

  async #bind(): Promise<void> {
    const { systemId, password, systemType } = this.#options;
    const answer = await this.request("bind_transceiver", {
      system_id: systemId,
      password,
      system_type: systemType,
      interface_version: 0x34,
    });
    if (typeof answer === "string") return this.#end("no answer to the bind");
    const { command_status: status } = answer.pdu;
    if (status !== 0) return this.#end(`it refused the bind (${statusName(status)})`);
    if (this.#closed) return;
    clearTimeout(this.#bindTimer);
    this.#enquireTimer = setInterval(() => void this.#enquire(), this.#options.enquireMs);
    this.#listener.bound();
  }

  async #enquire(): Promise<void> {
    if ((await this.request("enquire_link")) === "timeout") this.#end("no answer to the keep-alive");
  }

  #receive(pdu: Pdu): void {
    if (pdu.isResponse()) {
      this.#settle(pdu.sequence_number, { pdu });
      return;
    }
    switch (pdu.command) {
      case "enquire_link":
        this.#session.send(pdu.response());
        return;
      case "deliver_sm":
      case "data_sm":
        void this.#take(pdu);
        return;
      case "unbind":
        this.#session.send(pdu.response());
        this.#end("it ended the session");
        return;
      case "alert_notification":
        return;
      default:
        this.#session.send(
          new smpp.PDU("generic_nack", {
            command_status: smpp.errors.ESME_RINVCMDID,
            sequence_number: pdu.sequence_number,
          }),
        );
    }
  }

  /** One that is not taken the gateway keeps, and delivers again later (SMPP 3.4, 5.1.3). */
  async #take(pdu: Pdu): Promise<void> {
    const taken = await this.#listener.message(pdu);
    const status = taken ? smpp.errors.ESME_ROK : smpp.errors.ESME_RX_T_APPN;
    if (!this.#closed) this.#session.send(pdu.response({ command_status: status }));
  }

  #settle(number: number, answer: Answer): void {
    const pending = this.#pending.get(number);
    if (pending === undefined) return;
    this.#pending.delete(number);
    clearTimeout(pending.timer);
    pending.resolve(answer);
  }

  #end(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#bindTimer);
    clearInterval(this.#enquireTimer);
    this.#session.destroy();
    for (const number of [...this.#pending.keys()]) this.#settle(number, "lost");
    this.#listener.closed(reason);
  }
}

const statusNames = new Map(Object.entries(smpp.errors).map(([name, code]) => [code, name]));

/** The name of a command_status (`ESME_RTHROTTLED`); a vendor's own as hex. */
export function statusName(status: number): string {
  return statusNames.get(status) ?? `0x${status.toString(16).padStart(8, "0")}`;
}
