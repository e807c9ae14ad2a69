import type { AnyProtocol } from "../wire/protocol.ts";
import { type Channel, writeReplies } from "./channel.ts";
import type { Exchange } from "./exchange.ts";
import { MessageRate } from "./message-rate.ts";
import { Session } from "./session.ts";
import type { Shared } from "./shared.ts";
import type { CloseCause } from "./types.ts";

/** What a peer tells those who keep all of them. */
export interface UdpGroup {
  send(bytes: Uint8Array, port: number, host: string): void;
  /** A registered device speaks: the peer is worth remembering. */
  identified(peer: UdpPeer): void;
  closed(peer: UdpPeer, cause: CloseCause): void;
}

/** Whoever sends datagrams from one address and port. A datagram is one message. */
export class UdpPeer implements Channel {
  readonly key: string;
  readonly address: string;
  readonly #host: string;
  readonly #port: number;
  readonly #number: number;
  readonly #shared: Shared;
  readonly #group: UdpGroup;
  readonly #session: Session;
  readonly #rate: MessageRate;
  /** Datagrams that came while the session was not ready. */
  #waiting: Uint8Array[] | undefined;
  #closed = false;
  lastTick: number;

  constructor(
    source: { readonly key: string; readonly address: string; readonly host: string; readonly port: number },
    number: number,
    shared: Shared,
    group: UdpGroup,
    protocol: AnyProtocol,
  ) {
    this.key = source.key;
    this.address = source.address;
    this.#host = source.host;
    this.#port = source.port;
    this.#number = number;
    this.#shared = shared;
    this.#group = group;
    this.lastTick = shared.tick;
    this.#rate = new MessageRate(shared.limits.messagesPerSecond, shared.tick);
    this.#session = new Session(shared, this, protocol, "udp");
  }

  get id(): string {
    return `${this.#shared.prefix}-u${this.#number.toString(36)}`;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether something of it is not settled. */
  get busy(): boolean {
    return this.#session.busy;
  }

  /** Takes a datagram; its bytes are the peer's from now on. */
  received(message: Uint8Array): void {
    if (this.#closed) return;
    this.lastTick = this.#shared.tick;
    if (!this.#rate.allows(this.lastTick)) {
      this.#shared.counters.dropped.rate.add(1);
      return;
    }
    this.#rate.spend();
    if (this.#session.ready && this.#waiting === undefined) this.#take(message);
    else if ((this.#waiting?.length ?? 0) >= this.#shared.limits.datagramsWaiting)
      this.#shared.counters.dropped.waiting.add(1);
    else if (this.#waiting === undefined) this.#waiting = [message];
    else this.#waiting.push(message);
  }

  write(bytes: Uint8Array): void {
    if (!this.#closed) this.#group.send(bytes, this.#port, this.#host);
  }

  finish(exchange: Exchange): void {
    writeReplies(this, exchange);
  }

  identified(): void {
    this.#group.identified(this);
  }

  refused(cause: "unknown" | "expired"): void {
    this.close(cause);
  }

  resume(): void {
    while (this.#waiting !== undefined && this.#session.ready) {
      const message = this.#waiting.shift();
      if (this.#waiting.length === 0) this.#waiting = undefined;
      if (message !== undefined) this.#take(message);
    }
  }

  close(cause: CloseCause): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#waiting = undefined;
    this.#session.close();
    this.#group.closed(this, cause);
  }

  #take(message: Uint8Array): void {
    try {
      this.#session.take(message, this.#shared.deps.clock.now());
    } catch (error) {
      this.#shared.deps.log.error({ connection: this.id, address: this.address, error }, "defect");
      this.close("internal");
    }
  }
}
