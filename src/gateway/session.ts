import type { CommandResult, Effect, FailureCause, Reply, Report } from "../model/effects.ts";
import type { Admission, Admitted, Outcome } from "../ports/intake.ts";
import type { AnyProtocol, Connection, ExpectedReply, Transport } from "../wire/protocol.ts";
import type { Channel } from "./channel.ts";
import type { ProtocolCounters } from "./counters.ts";
import { Exchange } from "./exchange.ts";
import { ExchangeQueue } from "./exchange-queue.ts";
import type { Reachable } from "./registry.ts";
import type { Shared } from "./shared.ts";
import { Speaker } from "./speaker.ts";
import { addTrace } from "./tracing.ts";

/** A message and the effects that are still to be interpreted: `from` is the next. */
interface Work {
  readonly exchange: Exchange;
  readonly frame: Uint8Array;
  readonly effects: readonly Effect[];
  readonly from: number;
}

/**
 * The conversation with one peer: decodes its messages and does what their effects ask for. It knows nothing of sockets.
 *
 * A message becomes an exchange. Exchanges that wait for a commit stand in a queue and are finished in the order of their arrival, so a reply
 * "stored" says that everything before it is on disk too. No message is taken while the device of an earlier one is being asked for.
 */
export class Session implements Reachable {
  readonly protocol: AnyProtocol;
  readonly #shared: Shared;
  readonly #channel: Channel;
  readonly #transport: Transport;
  readonly #counters: ProtocolCounters;
  readonly #speaker = new Speaker();
  readonly #queue = new ExchangeQueue();
  #decoder: Connection;
  /** The message whose device is being asked for. */
  #suspended: Exchange | undefined;
  #refusedMessages = 0;
  #junk = 0;
  #closed = false;

  constructor(shared: Shared, channel: Channel, protocol: AnyProtocol, transport: Transport) {
    this.#shared = shared;
    this.#channel = channel;
    this.#transport = transport;
    this.protocol = protocol;
    this.#counters = shared.counters.protocol(protocol);
    this.#decoder = protocol.connect();
  }

  /** The registered device that speaks now. */
  get device(): Admitted | undefined {
    return this.#speaker.device;
  }

  /** Whether a device is being asked for: the message at hand must stay as it is, and no other be taken. */
  get suspended(): boolean {
    return this.#suspended !== undefined;
  }

  /** Whether something is not settled yet. */
  get busy(): boolean {
    return this.#queue.length > 0 || this.#suspended !== undefined;
  }

  /** Whether a further message may be given to `take`. Where not, the channel's `resume` is called once it may, or the intake drains. */
  get ready(): boolean {
    if (this.#suspended !== undefined || this.#closed) return false;
    // HTTP answers request by request: one at a time keeps their order without a queue of responses.
    if (this.#transport === "http") return this.#queue.length === 0;
    return this.#queue.length < this.#shared.limits.messagesInFlight && !this.#shared.deps.intake.congested;
  }

  /** Takes one whole message; only while `ready`. Its bytes stay untouched while the session is `suspended`. */
  take(frame: Uint8Array, receivedAt: number): void {
    this.#counters.frames.add(1);
    const exchange = new Exchange(receivedAt);
    if (this.#transport === "http") {
      // A phone waits for its answer, and no socket can be left unread: better to say at once that it should come back.
      if (this.#shared.deps.intake.congested) {
        this.#turnAway(exchange);
        return;
      }
      this.#forgetSpeaker();
    }
    const { device, ids } = this.#speaker;
    if (device === undefined || this.#speaker.current) {
      this.#decode(exchange, frame);
      return;
    }
    this.#admit(ids ?? [device.id], exchange, () => this.#decode(exchange, frame));
  }

  /** Bytes between messages that belong to none. */
  skipped(count: number): void {
    this.#counters.skippedBytes.add(count);
  }

  /**
   * The device was changed, deleted, renewed, or has expired: it must be admitted again before anything else of it is taken. One that is silent is
   * asked for right away, and its connection closed where it may not report any longer; where nobody can say at present, its next message asks again.
   */
  deviceChanged(device: string): void {
    this.#speaker.changed = true;
    const ids = this.#speaker.device?.id === device ? this.#speaker.ids : undefined;
    Promise.resolve(this.#shared.deps.intake.admit(ids ?? [device])).then(
      ({ status }) => {
        if (status !== "admitted") this.#lose(device, status);
      },
      (error: unknown) => this.#shared.deps.log.debug({ device, error }, "identification impossible at present"),
    );
  }

  /** A device may not report any longer. Where the connection stands for others too, they go on. */
  #lose(device: string, why: "unknown" | "expired"): void {
    // A message that came meanwhile has asked for itself.
    const asked = this.suspended || (this.#speaker.current && this.#speaker.device?.id === device);
    if (this.#closed || asked) return;
    if (!this.#speaker.leave(device, this, this.#shared)) this.#channel.close(why);
  }

  /** After a change of the device that speaks, the intake is asked anew; the session itself takes it up with its next message. */
  async speaksFor(device: string): Promise<boolean> {
    const { ids, device: speaker } = this.#speaker;
    if (ids === undefined || speaker?.id !== device || this.#speaker.current) return true;
    try {
      const admission = await this.#shared.deps.intake.admit(ids);
      return admission.status === "admitted" && admission.id === device;
    } catch {
      // Nobody can say whose identifiers these are; nothing was written, which is all that the caller is told.
      return false;
    }
  }

  expects(bytes: Uint8Array): ExpectedReply {
    return this.protocol.expects(bytes);
  }

  encode(
    text: string,
    device: string,
    mark: number,
  ): Uint8Array | { readonly refused: string } | "noForm" | "otherSpeaks" {
    // The protocol addresses whoever spoke last.
    if (this.#speaker.device?.id !== device) return "otherSpeaks";
    return this.#decoder.command(text, device, mark) ?? "noForm";
  }

  write(bytes: Uint8Array): void {
    if (!this.#closed) this.#channel.write(bytes);
  }

  /** No more is taken and nothing is sent. What was submitted is still stored. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#suspended = undefined;
    this.#speaker.unreachAll(this, this.#shared);
    this.#shared.inFlight -= this.#queue.clear();
  }

  /** Requests of many phones may come over one proxy's connection: each says anew who it is. */
  #forgetSpeaker(): void {
    this.#speaker.forget(this, this.#shared);
    this.#decoder = this.protocol.connect();
  }

  #turnAway(exchange: Exchange): void {
    exchange.unavailable = true;
    exchange.sealed = true;
    this.#finish(exchange);
  }

  #decode(exchange: Exchange, frame: Uint8Array): void {
    const { context } = this.#shared;
    context.receivedAt = exchange.receivedAt;
    context.transport = this.#transport;
    context.identified = this.#speaker.ids !== undefined;
    context.options = this.#speaker.options;
    const effects = this.#decoder.decode(frame, context);
    this.#interpret({ exchange, frame, effects, from: 0 });
  }

  #interpret(work: Work): void {
    const { exchange, effects, frame } = work;
    for (let index = work.from; index < effects.length; index++) {
      const effect = effects[index];
      switch (effect?.type) {
        case "fix":
        case "readings":
          this.#collect(exchange, effect);
          break;
        case "reply":
          this.#reply(exchange, effect);
          break;
        case "identify": {
          this.#submit(exchange);
          if (this.#speaker.speaksAs(effect.ids)) break;
          const rest = { ...work, from: index + 1 };
          this.#admit(effect.ids, exchange, () => this.#interpret(rest));
          return;
        }
        case "commandResult":
          this.#commandResult(effect);
          break;
        case "failure":
          this.#failure(exchange, effect.cause, frame.length);
          break;
      }
    }
    this.#seal(exchange, frame, effects);
  }

  #collect(exchange: Exchange, report: Report): void {
    if (this.#speaker.device === undefined) {
      exchange.refusal ??= this.#speaker.refusal;
      if (!exchange.unavailable) this.#counters.refused[this.#speaker.refusal].add(1);
    } else if (exchange.reports === undefined) exchange.reports = [report];
    else exchange.reports.push(report);
  }

  #reply(exchange: Exchange, reply: Reply): void {
    if (reply.when !== "now" && this.#speaker.device === undefined) return;
    if (reply.when !== "stored" && this.#transport !== "http") this.#channel.write(reply.bytes);
    else if (exchange.replies === undefined) exchange.replies = [reply.bytes];
    else exchange.replies.push(reply.bytes);
  }

  #commandResult(result: CommandResult): void {
    const device = this.#speaker.device?.id;
    if (device === undefined) return;
    const asked = this.#shared.commands.answered(device, result, this);
    this.#shared.deps.log.debug({ connection: this.#channel.id, device, ok: result.ok, asked }, "command answered");
  }

  #failure(exchange: Exchange, cause: FailureCause, length: number): void {
    exchange.failed = true;
    this.#counters.failures[cause].add(1);
    // A registered device may well send kinds of messages that we don't know; from anybody else they are junk like the rest.
    if (cause !== "unsupported" || this.#speaker.device === undefined) this.#junk += length;
  }

  /** Gives the reports so far to ingest, in the name of the present device. */
  #submit(exchange: Exchange): void {
    const { reports } = exchange;
    const { device } = this.#speaker;
    if (reports === undefined || device === undefined) return;
    exchange.reports = undefined;
    exchange.outstanding++;
    exchange.submitted = true;
    if (!exchange.queued) this.#enqueue(exchange);
    this.#counters.reports.add(reports.length);
    const count = reports.length;
    this.#shared.deps.intake.submit(device, reports, exchange.receivedAt, (outcome) =>
      this.#settled(exchange, outcome, count),
    );
  }

  #settled(exchange: Exchange, outcome: Outcome, count: number): void {
    exchange.outstanding--;
    if (outcome === "refused") {
      exchange.refusal ??= "changed";
      this.#counters.refused.changed.add(count);
    }
    // A defect of ours: the tracker keeps its data, and an HTTP sender is told to come again.
    if (outcome === "failed") exchange.unavailable = true;
    if (this.#closed) return;
    try {
      this.#drain();
      this.#channel.resume();
    } catch (error) {
      this.#defect(error);
    }
  }

  #enqueue(exchange: Exchange): void {
    this.#queue.push(exchange);
    this.#shared.inFlight++;
  }

  /** All effects of the message were interpreted. */
  #seal(exchange: Exchange, frame: Uint8Array, effects: readonly Effect[]): void {
    this.#submit(exchange);
    exchange.sealed = true;
    const { trace } = this.#shared.deps;
    if (trace.active) {
      const device = this.#speaker.device?.id ?? this.#speaker.ids?.[0];
      if (device !== undefined && trace.wants(device)) exchange.traced = { device, message: frame.slice(), effects };
    }
    // Nothing to wait for, and nobody waits for it.
    const alone = !exchange.queued && (this.#queue.length === 0 || exchange.replies === undefined);
    if (alone && this.#transport !== "http") this.#finish(exchange);
    else {
      if (!exchange.queued) this.#enqueue(exchange);
      this.#drain();
    }
    if (!this.#closed) this.#judge(exchange);
  }

  /** Closes the connection of a peer that sends nothing useful. */
  #judge(exchange: Exchange): void {
    if (!exchange.failed) this.#junk = 0;
    else if (this.#junk > this.#shared.limits.junkBytes) {
      this.#channel.close("junk");
      return;
    }
    const { device, ids, refusal } = this.#speaker;
    if (device !== undefined) this.#refusedMessages = 0;
    else if (ids !== undefined && ++this.#refusedMessages > this.#shared.limits.refusedMessages)
      this.#channel.close(refusal === "expired" ? "expired" : "unknown");
  }

  #drain(): void {
    for (let next = this.#queue.shiftSettled(); next !== undefined; next = this.#queue.shiftSettled()) {
      this.#shared.inFlight--;
      this.#finish(next);
      if (this.#closed) return;
    }
  }

  #finish(exchange: Exchange): void {
    if (exchange.traced !== undefined) addTrace(this.#shared, this.#channel, this.protocol, exchange, exchange.traced);
    if (exchange.submitted && exchange.replies !== undefined && exchange.refusal === undefined)
      this.#counters.acks.add(1);
    this.#channel.finish(exchange);
    if (exchange.reached !== undefined) this.#shared.commands.reached(exchange.reached);
  }

  /** Asks whose identifiers these are and goes on with `proceed`, at once where the answer is known. */
  #admit(ids: readonly string[], exchange: Exchange, proceed: () => void): void {
    this.#speaker.forget(this, this.#shared);
    const admission = this.#shared.deps.intake.admit(ids);
    if (!(admission instanceof Promise)) {
      this.#become(ids, admission, exchange);
      proceed();
      return;
    }
    this.#suspended = exchange;
    const goOn = (admit: () => void) => {
      if (this.#closed) return;
      this.#suspended = undefined;
      try {
        admit();
        if (this.#closed) return;
        proceed();
        this.#channel.resume();
      } catch (error) {
        this.#defect(error);
      }
    };
    admission.then(
      (answer) => goOn(() => this.#become(ids, answer, exchange)),
      (error: unknown) => goOn(() => this.#unavailable(ids, exchange, error)),
    );
  }

  #become(ids: readonly string[], admission: Admission, exchange: Exchange): void {
    this.#speaker.become(ids, admission);
    if (admission.status === "admitted") {
      if (this.#transport !== "http") {
        this.#speaker.reach(admission.id, this, this.#shared);
        exchange.reached = admission.id;
      }
      this.#channel.identified();
      return;
    }
    exchange.refusal ??= admission.status;
    const connection = this.#channel.id;
    this.#shared.deps.log.debug({ connection, protocol: this.protocol.id, ids, status: admission.status }, "refused");
    if (admission.status === "unknown") {
      this.#shared.deps.quarantine.add(ids, this.protocol.id, this.#channel.address);
      this.#counters.quarantined.add(1);
    }
    this.#channel.refused(admission.status);
  }

  /** Nobody can say whose identifiers these are. Without an answer the tracker keeps its data and comes back. */
  #unavailable(ids: readonly string[], exchange: Exchange, error: unknown): void {
    exchange.unavailable = true;
    this.#shared.deps.log.debug({ connection: this.#channel.id, ids, error }, "identification impossible at present");
    if (this.#transport !== "http") this.#channel.close("unavailable");
  }

  /** A defect of ours ends one connection, never the process. */
  #defect(error: unknown): void {
    this.#shared.deps.log.error({ connection: this.#channel.id, protocol: this.protocol.id, error }, "defect");
    this.#channel.close("internal");
  }
}
