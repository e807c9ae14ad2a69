import { createTransport } from "nodemailer";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Delivery, Mail, Mailer } from "../ports/mailer.ts";

/** The settings `mail.*`. */
export interface MailSettings {
  readonly host: string;
  readonly port: number;
  /**
   * `starttls` and `tls` are not sent without; `opportunistic` takes what the server offers and looks at no
   * certificate.
   */
  readonly security: "starttls" | "tls" | "opportunistic";
  readonly user: string;
  readonly password: string;
  /** `Name <address>` or the address alone. */
  readonly from: string;
  /** Connections, each with one mail at a time. */
  readonly connections: number;
  readonly timeoutSeconds: number;
}

/** Mails that one connection carries: servers close those that never end. */
const mostPerConnection = 100;

/**
 * Commands whose refusal is of this mail; another one is of the server or our account there, and may be mended while
 * the mail waits.
 */
const ofMail = new Set(["MAIL FROM", "RCPT TO", "DATA"]);

/** One address without a name: the library takes commas, angle brackets and quotes for lists and names. */
const address = /^[^\s@,;:<>()[\]"\\]+@[^\s@,;:<>()[\]"\\]+$/;

/** What a server says of itself is cut to that. */
const longestReason = 300;

/** Sends e-mail by SMTP over connections that are kept for the next one. */
export function createMailer(settings: MailSettings, deps: { readonly clock: Clock; readonly log: Log }): Mailer {
  return new SmtpMailer(settings, deps.clock, deps.log);
}

class SmtpMailer implements Mailer {
  readonly #from: Sender;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #pool: ReturnType<typeof createPool>;
  readonly #sending = new Set<Promise<Delivery>>();
  #failing = false;
  #closed = false;

  constructor(settings: MailSettings, clock: Clock, log: Log) {
    this.#from = senderOf(settings.from);
    this.#timeoutMs = settings.timeoutSeconds * 1000;
    this.#clock = clock;
    this.#log = log.child({ mailServer: settings.host });
    this.#pool = createPool(settings, this.#from.domain);
    // A connection that breaks while nothing is sent concerns no mail.
    this.#pool.on("error", (error) => this.#log.debug({ error }, "a connection to the mail server broke"));
  }

  async send(mail: Mail): Promise<Delivery> {
    if (!address.test(mail.to)) return { outcome: "refused", reason: "the address is not valid" };
    if (this.#closed) return { outcome: "unavailable", reason: "the service is stopping" };
    const sending = this.#send(mail);
    this.#sending.add(sending);
    try {
      return await sending;
    } finally {
      this.#sending.delete(sending);
    }
  }

  /** Breaks off what has no answer yet. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#pool.close({ force: true });
    await Promise.allSettled(this.#sending);
  }

  async #send({ id, to, subject, text, html }: Mail): Promise<Delivery> {
    const { domain, ...from } = this.#from;
    try {
      const { response } = await this.#pool.sendMail({
        to,
        from,
        envelope: { from: from.address, to },
        messageId: `<${id}@${domain}>`,
        date: new Date(this.#clock.now()),
        headers: { "Auto-Submitted": "auto-generated" },
        subject,
        text,
        html,
        // The timeouts of the connection begin anew with each octet that a slow server sends.
        signal: AbortSignal.timeout(this.#timeoutMs),
      });
      this.#works();
      return { outcome: "accepted", peerId: response.slice(0, longestReason) };
    } catch (error) {
      return this.#failed(error);
    }
  }

  #works(): void {
    if (this.#failing) this.#log.info({}, "the mail server takes mail again");
    this.#failing = false;
  }

  #failed(error: unknown): Delivery {
    const { code, command, response, responseCode } = detailsOf(error);
    if (responseCode > 0 && ofMail.has(command)) {
      this.#works();
      return responseCode >= 500
        ? { outcome: "refused", reason: `the mail server refused it: ${response}` }
        : { outcome: "unavailable", reason: `the mail server did not take it: ${response}` };
    }
    if (code === "EENVELOPE" && responseCode === 0) return { outcome: "refused", reason: "the address is not valid" };
    if (!this.#failing) this.#log.warn({ code, command, response }, "the mail server does not take mail");
    this.#failing = true;
    return { outcome: "unavailable", reason: reasonOf(code, responseCode) };
  }
}

function createPool(settings: MailSettings, domain: string) {
  const { host, port, security, user, password, connections, timeoutSeconds } = settings;
  const timeout = timeoutSeconds * 1000;
  return createTransport({
    pool: true,
    host,
    port,
    secure: security === "tls",
    requireTLS: security === "starttls",
    ...(security === "opportunistic" && { tls: { rejectUnauthorized: false } }),
    ...(user !== "" && { auth: { user, pass: password } }),
    name: domain,
    maxConnections: connections,
    maxMessages: mostPerConnection,
    // Tries are the outbox's affair, which records them.
    maxRequeues: 0,
    dnsTimeout: timeout,
    connectionTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout,
    // A server that never ends its side would keep the process for five seconds after everything else has ended.
    socketCloseTimeout: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

interface Sender {
  readonly name: string;
  readonly address: string;
  readonly domain: string;
}

/** The configuration has checked the form. */
function senderOf(from: string): Sender {
  const [, name = "", address = from] = /^(.*?)\s*<([^<>]+)>$/.exec(from) ?? [];
  return { name, address, domain: address.slice(address.lastIndexOf("@") + 1) };
}

function detailsOf(error: unknown) {
  const { code, command, response, responseCode } = Object(error);
  return {
    code: typeof code === "string" ? code : "",
    command: typeof command === "string" ? command : "",
    response: typeof response === "string" ? response.slice(0, longestReason) : "",
    responseCode: typeof responseCode === "number" ? responseCode : 0,
  };
}

function reasonOf(code: string, responseCode: number): string {
  if (code === "EAUTH") return `the mail server refused our user name or password (${responseCode})`;
  if (code === "ETLS") return "the mail server speaks no TLS that we trust";
  if (code === "EABORT" || code === "ETIMEDOUT") return "the mail server did not answer in time";
  return `the mail server can't be used (${responseCode || code || "unknown"})`;
}
