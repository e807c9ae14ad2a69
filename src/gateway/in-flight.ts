import type { Admitted, Outcome } from "../ports/intake.ts";
import type { AnyProtocol, Transport } from "../wire/protocol.ts";
import type { Channel } from "./channel.ts";
import { corrected } from "./correction.ts";
import type { ProtocolCounters } from "./counters.ts";
import type { Exchange } from "./exchange.ts";
import { ExchangeQueue } from "./exchange-queue.ts";
import type { Shared } from "./shared.ts";
import { addTrace } from "./tracing.ts";

/** Who is told that something was stored, or will not be. */
interface Owner {
  readonly transport: Transport;
  settled(): void;
}

/**
 * The way of one peer's exchanges from their submission to their replies. Those that wait for a commit stand in a queue
 * and are finished in the order of their arrival, so a reply "stored" says that everything before it is on disk too.
 */
export class InFlight {
  readonly #shared: Shared;
  readonly #channel: Channel;
  readonly #protocol: AnyProtocol;
  readonly #counters: ProtocolCounters;
  readonly #owner: Owner;
  readonly #queue = new ExchangeQueue();

  constructor(shared: Shared, channel: Channel, protocol: AnyProtocol, counters: ProtocolCounters, owner: Owner) {
    this.#shared = shared;
    this.#channel = channel;
    this.#protocol = protocol;
    this.#counters = counters;
    this.#owner = owner;
  }

  /** Exchanges that wait. */
  get length(): number {
    return this.#queue.length;
  }

  /**
   * Gives the exchange's reports so far to ingest, in the name of the device. Over HTTP they are turned away where no
   * more of it may wait: a request can't be left unread.
   */
  submit(exchange: Exchange, device: Admitted | undefined): void {
    const { reports } = exchange;
    if (reports === undefined || device === undefined) return;
    exchange.reports = undefined;
    if (this.#owner.transport === "http" && !this.#shared.deps.intake.takes(device)) {
      exchange.unavailable = true;
      return;
    }
    exchange.outstanding++;
    exchange.submitted = true;
    this.#channel.submitted();
    if (!exchange.queued) this.#enqueue(exchange);
    const count = reports.length;
    this.#counters.reports.add(count);
    const { receivedAt } = exchange;
    const said = corrected(reports, device, this.#protocol, receivedAt);
    this.#shared.deps.intake.submit(device, said, receivedAt, (outcome) => this.#settled(exchange, outcome, count));
  }

  /**
   * All effects of the message were interpreted. `awaited`: its peer waits for its end even where it has no reply
   * (HTTP).
   */
  seal(exchange: Exchange, awaited: boolean): void {
    exchange.sealed = true;
    // Nothing to wait for, and nobody waits for it.
    const alone = !exchange.queued && (this.#queue.length === 0 || exchange.replies === undefined);
    if (alone && !awaited) this.#finish(exchange);
    else {
      if (!exchange.queued) this.#enqueue(exchange);
      this.drain();
    }
  }

  /** Nothing of the message is taken; its peer is told at once. */
  turnAway(exchange: Exchange): void {
    exchange.unavailable = true;
    exchange.sealed = true;
    this.#finish(exchange);
  }

  /** Finishes those that wait for nothing more. */
  drain(): void {
    for (let next = this.#queue.shiftSettled(); next !== undefined; next = this.#queue.shiftSettled()) {
      this.#shared.inFlight--;
      this.#finish(next);
    }
  }

  /** Nobody waits for them any longer. What was submitted is still stored. */
  clear(): void {
    this.#shared.inFlight -= this.#queue.clear();
  }

  #enqueue(exchange: Exchange): void {
    this.#queue.push(exchange);
    this.#shared.inFlight++;
  }

  #settled(exchange: Exchange, outcome: Outcome, count: number): void {
    exchange.outstanding--;
    if (outcome === "refused") {
      exchange.refusal ??= "changed";
      this.#counters.refused.changed.add(count);
    }
    // A defect of ours: the tracker keeps its data, and an HTTP sender is told to come again.
    if (outcome === "failed") exchange.unavailable = true;
    this.#owner.settled();
  }

  #finish(exchange: Exchange): void {
    if (exchange.traced !== undefined) addTrace(this.#shared, this.#channel, this.#protocol, exchange, exchange.traced);
    if (exchange.submitted && exchange.replies !== undefined && exchange.refusal === undefined)
      this.#counters.acks.add(1);
    this.#channel.finish(exchange);
    if (exchange.reached !== undefined) this.#shared.commands.reached(exchange.reached);
  }
}
