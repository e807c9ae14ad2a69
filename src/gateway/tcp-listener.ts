import { createServer, type Server, type Socket } from "node:net";
import { addressGroup } from "../model/network.ts";
import { Places } from "../shares/places.ts";
import type { AnyProtocol } from "../wire/protocol.ts";
import { plainAddress, type Shared, warn } from "./shared.ts";
import type { Source } from "./sources.ts";
import { TcpConnection } from "./tcp-connection.ts";
import type { TcpGroup } from "./tcp-group.ts";
import type { CloseCause } from "./types.ts";

/** Silence after which the operating system asks whether the peer is still there, ms. */
const keepAliveDelayMs = 120_000;
/** Connections that may wait to be accepted: a fleet that comes back at once. The system may have a lower limit. */
const backlog = 4096;

/**
 * Bytes that a socket still takes in while it is not read, or one chunk: as few as the streams of Node.js let us ask
 * for without slowing replies.
 */
const highWaterMark = 4096;

/**
 * Part of the bytes that may wait at which reading goes on: between the two marks nothing is switched for each message.
 */
const readOnPart = 0.75;

/** The TCP ports: accepts within the limits, and sweeps what is idle. One timer looks after all connections. */
export class TcpListener implements TcpGroup<TcpConnection> {
  readonly #shared: Shared;
  readonly #servers: Server[] = [];
  readonly #guard: ((socket: Socket, connection: TcpConnection) => void) | undefined;
  readonly #connections = new Set<TcpConnection>();
  readonly #halfOpen: Places<TcpConnection>;
  /** Addresses with too many bytes that wait: their connections are not read. */
  readonly #full = new Set<Source>();
  #congested = new Set<TcpConnection>();
  #throttled = new Set<TcpConnection>();
  #accepted = 0;

  /** `guard`: stands before each connection until it is known whether it is TLS; undefined: all are plain. */
  constructor(shared: Shared, guard?: (socket: Socket, connection: TcpConnection) => void) {
    this.#shared = shared;
    this.#guard = guard;
    this.#halfOpen = new Places(shared.limits.halfOpenPerAddress);
  }

  get size(): number {
    return this.#connections.size;
  }

  get halfOpen(): number {
    return this.#halfOpen.size;
  }

  /** Listens on one more port, for these protocols; gives its number. */
  listen(host: string, port: number, protocols: readonly AnyProtocol[]): Promise<number> {
    // Half-open in the other sense: a peer that has sent its last byte still gets the answers that become due.
    const options = { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveDelayMs };
    const server = createServer({ ...options, highWaterMark }, (socket) => this.#accept(socket, protocols));
    this.#servers.push(server);
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port, backlog }, () => {
        server.off("error", reject);
        server.on("error", (error) => warn(this.#shared, error, "a connection could not be accepted"));
        const address = server.address();
        if (typeof address === "object" && address !== null) resolve(address.port);
        else reject(new Error("the listener has no address"));
      });
    });
  }

  /** Accepts no more, and reads no more. */
  stopReading(): void {
    for (const server of this.#servers) server.close();
    for (const connection of this.#connections) connection.pause();
  }

  /** Closes every connection once its last replies are sent. */
  closeAll(): void {
    for (const server of this.#servers) server.close();
    for (const connection of this.#connections) connection.end();
  }

  /** Closes what is still there. */
  destroyAll(): void {
    for (const connection of this.#connections) connection.close("stopped");
  }

  identified(connection: TcpConnection): void {
    this.#halfOpen.delete(connection);
  }

  renewed(connection: TcpConnection): void {
    this.#halfOpen.renew(connection);
  }

  refused(connection: TcpConnection): void {
    this.#halfOpen.add(connection);
  }

  buffered(change: number, source: Source): void {
    this.#shared.buffered += change;
    source.held += change;
    this.#settleSource(source);
    this.#settle();
  }

  congested(connection: TcpConnection): void {
    this.#congested.add(connection);
  }

  throttled(connection: TcpConnection): void {
    this.#throttled.add(connection);
  }

  closed(connection: TcpConnection, cause: CloseCause): void {
    this.#connections.delete(connection);
    this.#halfOpen.delete(connection);
    this.#congested.delete(connection);
    this.#throttled.delete(connection);
    connection.source.connections--;
    this.#shared.sources.leave(connection.source);
    this.#shared.counters.closed(cause).add(1);
    this.#shared.deps.log.debug({ connection: connection.id, cause }, "closed");
  }

  /** The intake takes messages again. */
  drained(): void {
    const waiting = this.#congested;
    this.#congested = new Set();
    for (const connection of waiting) connection.resume();
  }

  /** Called once a second. */
  sweep(): void {
    const { tick, limits } = this.#shared;
    const throttled = this.#throttled;
    this.#throttled = new Set();
    for (const connection of throttled) connection.resume();
    if (!this.#shared.deps.intake.congested && this.#congested.size > 0) this.drained();
    // UDP peers hold and let go without a word.
    this.#settle();
    for (const source of this.#full) this.#settleSource(source);
    if (!this.#shared.deps.intake.congested) this.#freeMemory();
    for (const connection of this.#halfOpen)
      if (tick > connection.deadline && !connection.delayed) connection.close(connection.overdue);
    for (const connection of this.#connections) {
      const silent = tick - connection.lastTick;
      if (connection.closing) {
        if (tick > connection.deadline) connection.close("finished");
      } else if (connection.answering && silent > limits.answerSeconds) connection.giveUp();
      else if (silent > limits.idleSeconds && !connection.waiting) connection.close("idle");
    }
  }

  /** Reads nobody, or all again, by the bytes that wait. */
  #settle(): void {
    const shared = this.#shared;
    const most = shared.limits.bufferedBytes;
    if (!shared.full && shared.buffered > most) {
      shared.full = true;
      for (const connection of this.#connections) connection.pause("memory");
    } else if (shared.full && shared.buffered <= most * readOnPart) {
      shared.full = false;
      for (const connection of this.#connections) connection.readOn();
    }
  }

  /** The same for one address, which waits for itself. */
  #settleSource(source: Source): void {
    const most = this.#shared.limits.bufferedBytesPerAddress;
    if (!source.full && source.held > most) {
      source.full = true;
      this.#full.add(source);
      for (const connection of this.#connections) if (connection.source === source) connection.pause("memory");
    } else if (source.full && source.held <= most * readOnPart) {
      source.full = false;
      this.#full.delete(source);
      for (const connection of this.#connections) if (connection.source === source) connection.readOn();
    }
  }

  /**
   * Who is not read can't end its message: closes those who hold most of messages that are not whole, until the rest
   * can be read.
   */
  #freeMemory(): void {
    if (!this.#shared.full && this.#full.size === 0) return;
    for (const connection of [...this.#connections].toSorted((a, b) => b.held - a.held)) {
      if (connection.held === 0) return;
      if ((this.#shared.full || connection.source.full) && !connection.waiting) connection.close("memory");
    }
  }

  #accept(socket: Socket, protocols: readonly AnyProtocol[]): void {
    const { counters, stopping, sources } = this.#shared;
    const share = addressGroup(plainAddress(socket.remoteAddress));
    const refusal = stopping ? "stopped" : this.#roomFor(share);
    if (refusal !== undefined) {
      counters.closed(refusal).add(1);
      socket.on("error", () => {});
      socket.destroy();
      return;
    }
    counters.opened.tcp.add(1);
    const source = sources.enter(share);
    source.connections++;
    const connection = new TcpConnection(socket, ++this.#accepted, this.#shared, this, { source, protocols });
    this.#guard?.(socket, connection);
    this.#connections.add(connection);
    this.#halfOpen.add(connection);
    if (this.#shared.full || source.full) connection.pause("memory");
    this.#shared.deps.log.debug({ connection: connection.id, address: connection.address }, "connected");
  }

  /** Makes room for one more of this address. Gives why there is none, where there is none. */
  #roomFor(share: string): CloseCause | undefined {
    const { limits, sources } = this.#shared;
    const most = limits.connections - Math.floor((limits.connections * limits.keptForOthers) / 100);
    if ((sources.find(share)?.connections ?? 0) >= Math.min(limits.connectionsPerAddress, most)) {
      const own = this.#halfOpen.nextOf(share);
      own?.close("perAddress");
      return own === undefined ? "perAddress" : undefined;
    }
    if (this.#connections.size < limits.connections && this.#halfOpen.size < limits.halfOpen) return undefined;
    const next = this.#halfOpen.next(share);
    next?.connection.close(next.beyondShare ? "halfOpenShare" : "full");
    return next === undefined ? "full" : undefined;
  }
}
