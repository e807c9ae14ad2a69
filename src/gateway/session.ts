import type { CommandResult, Effect, FailureCause, Reply, Report } from "../model/effects.ts";
import type { Admitted } from "../ports/intake.ts";
import type { AnyProtocol, Connection, ExpectedReply, Transport } from "../wire/protocol.ts";
import type { Channel } from "./channel.ts";
import { Conduct } from "./conduct.ts";
import type { ProtocolCounters } from "./counters.ts";
import { type Claim, judge, judgeAgain, recordTurned, type Verdict } from "./doorkeeper.ts";
import { Exchange, type Turned, type Work } from "./exchange.ts";
import { InFlight } from "./in-flight.ts";
import type { Reachable } from "./registry.ts";
import type { Shared } from "./shared.ts";
import { Speaker } from "./speaker.ts";
import { logIn, mayBeReached } from "./takeover.ts";
import { countUnsummed } from "./unsummed.ts";

/**
 * The conversation with one peer: decodes its messages and does what their effects ask for. It knows no sockets.
 *
 * A message becomes an exchange, which is finished once everything before it is settled. No message is taken while the
 * device of an earlier one is being asked for.
 */
export class Session implements Reachable {
  readonly protocol: AnyProtocol;
  readonly #shared: Shared;
  readonly #channel: Channel;
  readonly transport: Transport;
  readonly #counters: ProtocolCounters;
  readonly #speaker = new Speaker();
  readonly #conduct = new Conduct();
  readonly since: number;
  readonly #inFlight: InFlight;
  #decoder: Connection;
  /** Resolves once it is known whose the message at hand is; undefined: that is not being asked. */
  #asking: Promise<void> | undefined;
  #closed = false;

  constructor(shared: Shared, channel: Channel, protocol: AnyProtocol, transport: Transport) {
    this.#shared = shared;
    this.#channel = channel;
    this.transport = transport;
    this.since = shared.tick;
    this.protocol = protocol;
    this.#counters = shared.counters.protocol(protocol);
    this.#inFlight = new InFlight(shared, channel, protocol, this.#counters, this);
    this.#decoder = protocol.connect();
  }

  get address(): string {
    return this.#channel.address;
  }

  get heardAt(): number {
    return this.#channel.lastTick;
  }

  /** The registered device that speaks now. */
  get device(): Admitted | undefined {
    return this.#speaker.device;
  }

  /** Whether a device is being asked for: the message at hand must stay as it is, and no other be taken. */
  get suspended(): boolean {
    return this.#asking !== undefined;
  }

  /** Whether something is not settled yet. */
  get busy(): boolean {
    return this.#inFlight.length > 0 || this.#asking !== undefined;
  }

  /** Whether `take` may be given a further message. If not, the channel's `resume` or the intake's drain says when. */
  get ready(): boolean {
    if (this.#asking !== undefined || this.#closed) return false;
    // HTTP answers request by request: one at a time keeps their order without a queue of responses.
    if (this.transport === "http") return this.#inFlight.length === 0;
    return this.#inFlight.length < this.#shared.limits.messagesInFlight && !this.heldBack;
  }

  /** Whether ingest takes no more for the time being: of anybody, or of the device that speaks. */
  get heldBack(): boolean {
    const { intake } = this.#shared.deps;
    const { device } = this.#speaker;
    return device === undefined ? intake.congested : !intake.takes(device);
  }

  /** Takes one whole message; only while `ready`. Its bytes stay untouched while the session is `suspended`. */
  take(frame: Uint8Array, receivedAt: number): void {
    this.#counters.frames.add(1);
    const exchange = new Exchange(receivedAt);
    if (this.transport === "http") {
      // A phone waits for its answer, and no socket can be left unread: better to say at once that it should come back.
      if (this.#shared.deps.intake.congested) {
        this.#inFlight.turnAway(exchange);
        return;
      }
      this.#forgetSpeaker();
    }
    const { device, ids, secret } = this.#speaker;
    if (device === undefined || this.#speaker.current) {
      this.#decode(exchange, frame);
      return;
    }
    const claim = this.#claim(ids ?? [device.id], secret);
    this.#admit(claim, exchange, () => this.#decode(exchange, frame), true);
  }

  /** Bytes between messages that belong to none. */
  skipped(count: number): void {
    this.#counters.skippedBytes.add(count);
    this.#conduct.skipped(count);
  }

  /**
   * The device was changed, deleted, renewed, or has expired: it must be admitted again before more of it is taken. A
   * silent one is asked for at once, and closed if it may not report; if nobody can say, its next message asks.
   */
  deviceChanged(device: string): void {
    this.#speaker.changed = true;
    const { ids, secret, device: speaker } = this.#speaker;
    const claim = speaker?.id === device ? this.#claim(ids ?? [device], secret) : undefined;
    Promise.resolve(judgeAgain(this.#shared, claim ?? this.#claim([device], undefined))).then(
      (verdict) => {
        // What a device brought that spoke earlier here is not kept: its next message shows whether it may go on.
        const unclear = claim === undefined && verdict.status === "barred" && verdict.rule === "secret";
        if (verdict.status !== "admitted") {
          if (!unclear) this.#lose(device, verdict.status);
        } else if (verdict.id !== device) this.#lose(device, "unknown");
      },
      (error: unknown) => this.#shared.deps.log.debug({ device, error }, "identification impossible at present"),
    );
  }

  /** The device logged in elsewhere. A peer that stands for others goes on for them. What it submitted is stored. */
  displaced(device: string): void {
    if (device === this.#speaker.besides) this.#speaker.leaveBesides(this, this.#shared);
    const waits = this.suspended && !this.#speaker.doubts(device);
    if (!this.#closed && !this.#speaker.leave(device, this, this.#shared) && !waits) this.#channel.close("replaced");
  }

  /** A device may not report any longer. Where the connection stands for others too, they go on. */
  #lose(device: string, why: Turned): void {
    // A message that came meanwhile has asked for itself.
    const asked = this.suspended || (this.#speaker.current && this.#speaker.device?.id === device);
    if (this.#closed || asked) return;
    if (!this.#speaker.leave(device, this, this.#shared)) this.#channel.close(why);
  }

  /** After a change of the device that speaks, the intake is asked anew; the session goes on with its next message. */
  async speaksFor(device: string): Promise<boolean> {
    while (this.#asking !== undefined) await this.#asking;
    const { ids, secret, device: speaker } = this.#speaker;
    if (ids === undefined || speaker?.id !== device || this.#speaker.current) return true;
    try {
      const verdict = await judgeAgain(this.#shared, this.#claim(ids, secret));
      return verdict.status === "admitted" && verdict.id === device;
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
    this.#asking = undefined;
    this.#speaker.unreachAll(this, this.#shared);
    this.#inFlight.clear();
  }

  /** Something was stored, or will not be. */
  settled(): void {
    if (this.#closed) return;
    try {
      this.#inFlight.drain();
      this.#channel.resume();
    } catch (error) {
      this.#defect(error);
    }
  }

  /** Requests of many phones may come over one proxy's connection: each says anew who it is. */
  #forgetSpeaker(): void {
    this.#speaker.forget(this, this.#shared);
    this.#decoder = this.protocol.connect();
  }

  /** `knowing`: the message was decoded before, without its device's options. */
  #decode(exchange: Exchange, frame: Uint8Array, options = this.#speaker.options, knowing = false): void {
    const { context } = this.#shared;
    context.receivedAt = exchange.receivedAt;
    context.transport = this.transport;
    context.identified = this.#speaker.ids !== undefined;
    context.options = options;
    const effects = this.#decoder.decode(frame, context, knowing);
    this.#interpret({ exchange, frame, effects, from: 0, options, knowing });
  }

  #interpret(work: Work): void {
    const { exchange, effects, frame } = work;
    // A reply, or a refusal, may have ended the peer: nobody speaks then whose reports or whose reach could be kept.
    for (let index = work.from; index < effects.length && !this.#closed; index++) {
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
          this.#inFlight.submit(exchange, this.#speaker.device);
          if (this.#speaker.speaksAs(effect.ids)) break;
          const proceed = () => this.#identified({ ...work, from: index + 1 });
          this.#admit(this.#claim(effect.ids, effect.secret), exchange, proceed);
          return;
        }
        case "commandResult":
          this.#commandResult(effect);
          break;
        case "failure":
          if (effect.ids !== undefined) {
            this.#unsummed(effect.ids, { ...work, from: index + 1 });
            return;
          }
          this.#failure(exchange, effect.cause);
          if (effect.cause === "badChecksum" && this.#speaker.device !== undefined)
            countUnsummed(this.#shared, this, this.#speaker.device);
          break;
      }
    }
    this.#seal(exchange, frame, effects);
  }

  /** Goes on with a message that named its device; it was read as the one before it writes. */
  #identified(work: Work): void {
    const { model, format } = this.#speaker.options;
    const same = model === work.options.model && format === work.options.format;
    if (same || work.knowing || work.from > 1) this.#interpret(work);
    else this.#decode(work.exchange, work.frame, this.#speaker.options, true);
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
    if (reply.when !== "stored" && this.transport !== "http") this.#channel.write(reply.bytes);
    else if (exchange.replies === undefined) exchange.replies = [reply.bytes];
    else exchange.replies.push(reply.bytes);
  }

  #commandResult(result: CommandResult): void {
    const device = this.#speaker.device?.id;
    // Who is not asked anything here can't answer.
    if (device === undefined || this.#speaker.besides !== undefined) return;
    const asked = this.#shared.commands.answered(device, result, this);
    if (!asked && result.to !== undefined && this.transport === "udp")
      this.#shared.deps.bus.publish({ type: "commandAnswered", id: device, result });
    this.#shared.deps.log.debug({ connection: this.#channel.id, device, ok: result.ok, asked }, "command answered");
  }

  #failure(exchange: Exchange, cause: FailureCause): void {
    const kept = this.#inFlight.length > 0 || exchange.submitted || exchange.reports !== undefined;
    const known = cause === "unsupported" && this.#speaker.device !== undefined;
    if (!kept && !known && this.#channel.reread("failed")) return;
    exchange.failed = true;
    this.#counters.failures[cause].add(1);
    // A registered device may well send kinds of messages that we don't know; from anybody else they are junk.
    if (cause !== "unsupported" || this.#speaker.device === undefined) exchange.useless = true;
  }

  /** All effects of the message were interpreted. */
  #seal(exchange: Exchange, frame: Uint8Array, effects: readonly Effect[]): void {
    const { device: speaker } = this.#speaker;
    if (!this.#closed) this.#inFlight.submit(exchange, speaker);
    const { trace, intake } = this.#shared.deps;
    if (speaker !== undefined && !exchange.submitted) intake.heard(speaker, exchange.receivedAt);
    if (speaker && !this.#closed && mayBeReached(this.#shared, this, this.#speaker)) this.#logIn(speaker, exchange);
    if (trace.active) {
      const device = this.#speaker.device?.id ?? this.#speaker.ids?.[0];
      if (device !== undefined && trace.wants(device)) exchange.traced = { device, message: frame.slice(), effects };
    }
    this.#inFlight.seal(exchange, this.transport === "http");
    if (this.#closed) return;
    const cause = this.#conduct.verdict(exchange, frame.length, effects, this.#speaker, this.#shared.limits);
    if (cause !== undefined) this.#channel.close(cause);
  }

  #claim(ids: readonly string[], secret: string | undefined): Claim {
    const { protocol, transport } = this;
    return { ids, secret, protocol, transport, address: this.#channel.address };
  }

  /** Asks whether a claim holds and goes on with `proceed`, at once if that is known. `again`: it held before. */
  #admit(claim: Claim, exchange: Exchange, proceed: () => void, again = false): void {
    this.#speaker.forget(this, this.#shared);
    const verdict = again ? judgeAgain(this.#shared, claim) : judge(this.#shared, claim);
    if (!(verdict instanceof Promise)) {
      this.#become(claim, verdict, exchange);
      proceed();
      return;
    }
    const goOn = (admit: () => void) =>
      this.#resume(() => {
        admit();
        if (!this.#closed) proceed();
      });
    this.#asking = verdict.then(
      (answer) => goOn(() => this.#become(claim, answer, exchange)),
      (error: unknown) => goOn(() => this.#unavailable(claim.ids, exchange, error)),
    );
  }

  /** A message with a wrong checksum names its sender. It is refused, unless that device's checksums mean nothing. */
  #unsummed(ids: readonly string[], rest: Work): void {
    const { exchange, frame } = rest;
    const decide = (verdict: Verdict | undefined) => {
      if (verdict?.status === "admitted" && verdict.ignoresChecksums === true) {
        this.#decode(exchange, frame, { checksums: "ignore" });
        return;
      }
      if (verdict?.status === "admitted") countUnsummed(this.#shared, this, verdict);
      this.#failure(exchange, "badChecksum");
      this.#interpret(rest);
    };
    const verdict = Promise.resolve(judge(this.#shared, this.#claim(ids, undefined)));
    // Where nobody can say, the message is refused, and comes again.
    this.#asking = verdict.catch(() => undefined).then((answer) => this.#resume(() => decide(answer)));
  }

  /** What was asked is answered: the message goes on, and then the channel. */
  #resume(proceed: () => void): void {
    if (this.#closed) return;
    this.#asking = undefined;
    try {
      proceed();
      if (!this.#closed) this.#channel.resume();
    } catch (error) {
      this.#defect(error);
    }
  }

  #become(claim: Claim, verdict: Verdict, exchange: Exchange): void {
    if (this.#channel.reread(verdict.status === "admitted" ? verdict : "refused", claim.ids)) return;
    this.#speaker.become(claim.ids, claim.secret, verdict);
    this.#speaker.decided(this, this.#shared);
    if (verdict.status !== "admitted") {
      exchange.refusal ??= verdict.status;
      recordTurned(this.#shared, this.#counters, claim, verdict);
      this.#channel.refused(verdict.status);
      return;
    }
    this.#channel.identified();
    this.#logIn(verdict, exchange);
  }

  #logIn(device: Admitted, exchange: Exchange): void {
    const heard = logIn(this.#shared, this, this.#speaker, device);
    if (heard === "reached") exchange.reached = device.id;
    else if (heard === "turned out" && !this.#speaker.stands) this.#channel.close("replacedOften");
  }

  /** Nobody can say whose identifiers these are. Without an answer the tracker keeps its data and comes back. */
  #unavailable(ids: readonly string[], exchange: Exchange, error: unknown): void {
    exchange.unavailable = true;
    this.#shared.deps.log.debug({ connection: this.#channel.id, ids, error }, "identification impossible at present");
    if (this.transport !== "http") this.#channel.close("unavailable");
  }

  /** A defect of ours ends one connection, never the process. */
  #defect(error: unknown): void {
    this.#shared.deps.log.error({ connection: this.#channel.id, protocol: this.protocol.id, error }, "defect");
    this.#channel.close("internal");
  }
}
