import { once } from "node:events";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

/** A mail that the peer took. */
export interface Taken {
  readonly id: string;
  readonly to: readonly string[];
  readonly from: string;
  readonly raw: string;
  readonly secure: boolean;
  readonly user: string | undefined;
}

/** How the peer answers a recipient or a mail: it takes it, refuses it with a status, or not at all. */
export type MailReaction = "take" | number | "silent";

/** A real SMTP server on this machine, which keeps what it took. */
export class SmtpPeer {
  readonly taken: Taken[] = [];
  readonly #server: SMTPServer;
  readonly #watchers = new Set<() => void>();
  port = 0;
  /** Recipients and mails that were offered, taken or not. */
  offered = 0;
  /** Mails that are under way, and the most at a time. */
  open = 0;
  mostOpen = 0;
  /** Connections so far. */
  connections = 0;
  recipient: (to: string) => MailReaction = () => "take";
  mail: (id: string) => MailReaction = () => "take";
  /** Time until a mail is answered, ms. */
  delayMs: () => number = () => 0;
  /** Whoever logs in must have this user name and password. */
  user = "";
  password = "";

  constructor(options: SMTPServerOptions = { disabledCommands: ["AUTH", "STARTTLS"] }) {
    this.#server = new SMTPServer({
      ...options,
      authOptional: true,
      closeTimeout: 100,
      onConnect: (_session, done) => {
        this.connections++;
        done();
      },
      onAuth: ({ username, password }, _session, done) =>
        username === this.user && password === this.password
          ? done(null, { user: username })
          : done(Object.assign(new Error("wrong"), { responseCode: 535 })),
      onRcptTo: ({ address }, _session, done) => this.#answer(this.recipient(address), done),
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        this.open++;
        this.mostOpen = Math.max(this.open, this.mostOpen);
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("end", () =>
          setTimeout(() => this.#received(Buffer.concat(chunks).toString(), session, done), this.delayMs()),
        );
      },
    });
    // Of clients that break off.
    this.#server.on("error", () => {});
  }

  async listen(port = 0): Promise<number> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server.server, "listening");
    this.port = Number(Reflect.get(Object(this.#server.server.address()), "port"));
    return this.port;
  }

  async close(): Promise<void> {
    if (!this.#server.server.listening) return;
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** Resolves when the condition holds. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition())
      await new Promise<void>((resolve) => {
        this.#watchers.add(resolve);
      });
  }

  #received(
    raw: string,
    session: Parameters<NonNullable<SMTPServerOptions["onData"]>>[1],
    done: (error?: Error | null) => void,
  ): void {
    this.open--;
    const id = /^message-id: <([^>@]+)@/im.exec(raw)?.[1] ?? "";
    const { mailFrom, rcptTo } = session.envelope;
    const reaction = this.mail(id);
    if (reaction === "take")
      this.taken.push({
        id,
        raw,
        to: rcptTo.map(({ address }) => address),
        from: mailFrom === false ? "" : mailFrom.address,
        secure: session.secure,
        user: typeof session.user === "string" ? session.user : undefined,
      });
    this.#answer(reaction, done);
  }

  #answer(reaction: MailReaction, done: (error?: Error | null) => void): void {
    this.offered++;
    if (reaction === "take") done();
    else if (reaction !== "silent") done(Object.assign(new Error("not this one"), { responseCode: reaction }));
    for (const resolve of this.#watchers) resolve();
    this.#watchers.clear();
  }
}
