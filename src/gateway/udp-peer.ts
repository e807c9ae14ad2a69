import type { Socket } from "node:dgram";
import { cutDatagram } from "../wire/datagram.ts";
import type { AnyProtocol } from "../wire/protocol.ts";
import { type Channel, writeReplies } from "./channel.ts";
import type { Exchange, Turned } from "./exchange.ts";
import { MessageRate } from "./message-rate.ts";
import { type Doubt, Opening } from "./opening.ts";
import { Session } from "./session.ts";
import type { Shared } from "./shared.ts";
import type { Source } from "./sources.ts";
import type { CloseCause } from "./types.ts";

/** What a peer tells those who keep all of them. */
export interface UdpGroup {
  send(bytes: Uint8Array, to: UdpOrigin): void;
  /** A registered device speaks: the peer is worth remembering. */
  identified(peer: UdpPeer): void;
  /** Messages of it wait because the intake takes none for now. */
  congested(peer: UdpPeer): void;
  closed(peer: UdpPeer, cause: CloseCause): void;
}

/**
 * Where a peer's datagrams come from: `address` is its host for people, `key` tells it from all others, `source` is
 * what its address has in all.
 */
export interface UdpOrigin {
  readonly key: string;
  readonly address: string;
  readonly source: Source;
  readonly host: string;
  readonly port: number;
  /** Our socket, which answers it. */
  readonly socket: Socket;
  /** How many peers there were with it. */
  readonly number: number;
}

const none: readonly Uint8Array[] = [];

/** Whoever sends datagrams from one address and port. */
export class UdpPeer implements Channel {
  readonly key: string;
  readonly address: string;
  readonly source: Source;
  readonly #origin: UdpOrigin;
  readonly #shared: Shared;
  readonly #group: UdpGroup;
  /** Those that our port speaks. */
  readonly #protocols: readonly AnyProtocol[];
  #session: Session;
  /** Its first datagram, while that may be another protocol's. */
  #opening: Opening | undefined;
  readonly #rate: MessageRate;
  /** Messages of the datagram at hand; those from `#at` on wait until the session is ready. */
  #messages: readonly Uint8Array[] = none;
  #at = 0;
  /** Datagrams that came meanwhile. */
  #waiting: Uint8Array[] | undefined;
  /** Bytes of the datagram at hand. */
  #atHand = 0;
  /** Bytes of those that wait. */
  #waitingBytes = 0;
  /** What of all that is counted among the bytes that wait. */
  #held = 0;
  #taking = false;
  #closed = false;
  lastTick: number;

  constructor(origin: UdpOrigin, shared: Shared, group: UdpGroup, protocol: AnyProtocol, opening: Opening) {
    this.key = origin.key;
    this.address = origin.address;
    this.source = origin.source;
    this.#origin = origin;
    this.#shared = shared;
    this.#group = group;
    this.lastTick = shared.tick;
    this.#rate = new MessageRate(shared.limits.messagesPerSecond, shared.tick);
    this.#protocols = opening.protocols;
    this.#opening = opening.doubtful ? opening : undefined;
    this.#session = new Session(shared, this, protocol, "udp");
  }

  /** Its address as limits count it. */
  get share(): string {
    return this.source.share;
  }

  get id(): string {
    return `${this.#shared.prefix}-u${this.#origin.number.toString(36)}`;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether something of it is not settled. */
  get busy(): boolean {
    return this.#session.busy || this.#at < this.#messages.length || this.#waiting !== undefined;
  }

  /** Takes a datagram; its bytes are the peer's from now on. */
  received(message: Uint8Array): void {
    if (this.#closed) return;
    this.lastTick = this.#shared.tick;
    const { dropped } = this.#shared.counters;
    if (!this.#rate.allows(this.lastTick)) dropped.rate.add(1);
    else if ((this.#waiting?.length ?? 0) >= this.#shared.limits.datagramsWaiting) dropped.waiting.add(1);
    else {
      if (this.#waiting === undefined) this.#waiting = [message];
      else this.#waiting.push(message);
      this.#waitingBytes += message.length;
      this.resume();
    }
  }

  write(bytes: Uint8Array): void {
    if (!this.#closed) this.#group.send(bytes, this.#origin);
  }

  submitted(): void {
    this.#opening = undefined;
  }

  finish(exchange: Exchange): void {
    writeReplies(this, exchange);
  }

  reread(doubt: Doubt, ids?: readonly string[]): boolean {
    const protocol = this.#opening?.instead(doubt, ids);
    if (protocol === undefined || this.#opening === undefined) return false;
    const { bytes } = this.#opening;
    this.#session.close();
    this.#session = new Session(this.#shared, this, protocol, "udp");
    this.#messages = none;
    this.#at = 0;
    this.#waiting = [bytes, ...(this.#waiting ?? [])];
    this.#waitingBytes += bytes.length;
    // Whoever called goes on with what is closed; the bytes are read after that.
    queueMicrotask(() => this.resume());
    return true;
  }

  identified(): void {
    this.#group.identified(this);
  }

  refused(cause: Turned): void {
    this.close(cause);
  }

  /** Gives messages to the session as long as it takes them. */
  resume(): void {
    // A commit may be told of while a message is being taken: its turn ends first.
    if (this.#taking) return;
    this.#taking = true;
    try {
      while (this.#session.ready) {
        const message = this.#next();
        if (message === undefined) break;
        this.#rate.spend();
        this.#session.take(message, this.#shared.deps.clock.now());
      }
    } catch (error) {
      this.#shared.deps.log.error({ connection: this.id, address: this.address, error }, "defect");
      this.close("internal");
    }
    this.#taking = false;
    this.#account();
    if (this.#held > 0 && !this.#session.suspended && this.#session.heldBack) this.#group.congested(this);
  }

  close(cause: CloseCause): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#messages = none;
    this.#waiting = undefined;
    this.#waitingBytes = 0;
    this.#account();
    this.#session.close();
    this.#group.closed(this, cause);
  }

  #next(): Uint8Array | undefined {
    const message = this.#messages[this.#at++];
    if (message !== undefined) return message;
    this.#messages = none;
    this.#at = 0;
    const datagram = this.#waiting?.[0];
    if (datagram === undefined) return undefined;
    const strange = this.#session.protocol.detect(datagram, "udp") === "no";
    // What is in flight is answered before; the session then asks for more.
    if (strange && this.#session.busy) return undefined;
    this.#waiting?.shift();
    if (this.#waiting?.length === 0) this.#waiting = undefined;
    this.#waitingBytes -= datagram.length;
    this.#atHand = datagram.length;
    if (strange) this.#detect(datagram);
    const { messages, skipped } = cutDatagram(this.#session.protocol, datagram);
    if (skipped > 0) this.#session.skipped(skipped);
    this.#messages = messages;
    return messages[this.#at++];
  }

  /**
   * What its protocol does not know may be another tracker's, which has the same address and port behind a network's
   * translation.
   */
  #detect(datagram: Uint8Array): void {
    const opening = new Opening(this.#protocols, "udp");
    const protocol = opening.take(datagram, true);
    if (typeof protocol === "string") return;
    this.#session.close();
    this.#session = new Session(this.#shared, this, protocol, "udp");
    this.#opening = opening.doubtful ? opening : undefined;
  }

  /** Tells how many bytes wait with it now: of the datagram at hand, all, as long as one of its messages does. */
  #account(): void {
    const held = this.#waitingBytes + (this.#at < this.#messages.length ? this.#atHand : 0);
    this.#shared.buffered += held - this.#held;
    this.source.held += held - this.#held;
    this.#held = held;
  }
}
