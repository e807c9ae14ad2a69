import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import { addressGroup } from "../model/network.ts";
import { Places } from "../shares/places.ts";
import type { AnyProtocol } from "../wire/protocol.ts";
import { Opening } from "./opening.ts";
import { plainAddress, type Shared, warn } from "./shared.ts";
import type { CloseCause } from "./types.ts";
import { type UdpGroup, type UdpOrigin, UdpPeer } from "./udp-peer.ts";

/** Most bytes of replies that may wait in the socket. Further replies are dropped, as any datagram may be. */
const maximumUnsent = 1 << 20;

/**
 * The UDP ports. A peer is remembered once a registered device spoke. Until then, while its device is being asked for,
 * it is kept apart and within a bound of its own, so that datagrams with forged senders never push out those who are
 * known.
 */
export class UdpListener implements UdpGroup {
  readonly #shared: Shared;
  readonly #host: string;
  readonly #sockets: Socket[] = [];
  readonly #peers = new Map<string, UdpPeer>();
  /** The same in the order in which they were last heard, with the share of each address. */
  readonly #places: Places<UdpPeer>;
  /** Those whose first device is being asked for. */
  readonly #asking = new Map<string, UdpPeer>();
  /** Those with messages that the intake does not take for now. */
  #congested = new Set<UdpPeer>();
  #received = 0;

  constructor(shared: Shared, host: string) {
    this.#shared = shared;
    this.#places = new Places(shared.limits.udpSessionsPerAddress);
    this.#host = host;
  }

  get size(): number {
    return this.#peers.size;
  }

  /** Listens on one more port, for these protocols; gives its number. */
  listen(port: number, protocols: readonly AnyProtocol[]): Promise<number> {
    const socket = createSocket({ type: isIPv6(this.#host) ? "udp6" : "udp4" });
    this.#sockets.push(socket);
    socket.on("message", (message, source) => this.#safely(message, source, { socket, protocols }));
    return new Promise((resolve, reject) => {
      socket.once("error", reject);
      socket.bind({ address: this.#host, port }, () => {
        socket.off("error", reject);
        socket.on("error", (error) => warn(this.#shared, error, "a datagram could not be received or sent"));
        resolve(socket.address().port);
      });
    });
  }

  close(): void {
    for (const peers of [this.#peers, this.#asking]) for (const peer of peers.values()) peer.close("stopped");
    for (const socket of this.#sockets) socket.close();
  }

  send(bytes: Uint8Array, { socket, port, host }: UdpOrigin): void {
    if (socket.getSendQueueSize() > maximumUnsent) return;
    socket.send(bytes, port, host, ignore);
  }

  identified(peer: UdpPeer): void {
    this.#answered(peer);
    if (this.#peers.get(peer.key) === peer) return;
    if (this.#peers.size >= this.#shared.limits.udpSessions) this.#places.next(peer.share)?.connection.close("full");
    this.#peers.set(peer.key, peer);
    this.#places.add(peer);
  }

  closed(peer: UdpPeer, cause: CloseCause): void {
    if (this.#peers.get(peer.key) === peer) this.#peers.delete(peer.key);
    this.#places.delete(peer);
    this.#congested.delete(peer);
    this.#answered(peer);
    this.#shared.sources.leave(peer.source);
    this.#shared.counters.closed(cause).add(1);
  }

  congested(peer: UdpPeer): void {
    this.#congested.add(peer);
  }

  /** The intake takes messages again. */
  drained(): void {
    const waiting = this.#congested;
    this.#congested = new Set();
    for (const peer of waiting) peer.resume();
  }

  /** Called once a second. */
  sweep(): void {
    const { tick, limits } = this.#shared;
    for (const peer of this.#places) {
      if (tick - peer.lastTick <= limits.udpIdleSeconds) break;
      if (!peer.busy) peer.close("idle");
    }
    for (const peer of this.#asking.values()) if (!peer.busy) peer.close("notIdentified");
  }

  /** A defect of ours ends one datagram, never the process. */
  #safely(message: Uint8Array, source: RemoteInfo, port: UdpPort): void {
    try {
      this.#message(message, source, port);
    } catch (error) {
      this.#shared.deps.log.error({ address: plainAddress(source.address), error }, "defect");
    }
  }

  #message(message: Uint8Array, { address: host, port }: RemoteInfo, { socket, protocols }: UdpPort): void {
    const { counters, limits, stopping } = this.#shared;
    counters.received.udp.add(message.length);
    if (stopping) {
      counters.dropped.stopping.add(1);
      return;
    }
    if (message.length > limits.datagramBytes) {
      counters.dropped.tooLong.add(1);
      return;
    }
    if (this.#shared.buffered > limits.bufferedBytes) {
      counters.dropped.memory.add(1);
      return;
    }
    const address = plainAddress(host);
    // One sender may use several of our ports.
    const at = this.#sockets.indexOf(socket);
    const key = at === 0 ? `${address} ${port}` : `${address} ${port} ${at}`;
    const known = this.#peers.get(key);
    if (known !== undefined && known.lastTick !== this.#shared.tick) this.#places.renew(known);
    const peer = known ?? this.#asking.get(key);
    if (peer === undefined) this.#first(message, { key, address, host, port, socket }, protocols);
    else if (peer.source.held > limits.bufferedBytesPerAddress) counters.dropped.memory.add(1);
    else peer.received(message);
  }

  /** A datagram of somebody who is not known. One that is not read is sent again, or would have been lost anyway. */
  #first(message: Uint8Array, origin: Omit<UdpOrigin, "source" | "number">, protocols: readonly AnyProtocol[]): void {
    const { counters, deps, limits, sources } = this.#shared;
    if (deps.intake.congested) {
      counters.dropped.congested.add(1);
      return;
    }
    const share = addressGroup(origin.address);
    const before = sources.find(share);
    if (this.#asking.size >= limits.udpAsking || (before?.asking ?? 0) >= limits.udpAskingPerAddress) {
      counters.dropped.asking.add(1);
      return;
    }
    if ((before?.held ?? 0) > limits.bufferedBytesPerAddress) {
      counters.dropped.memory.add(1);
      return;
    }
    const opening = new Opening(protocols, "udp");
    const protocol = opening.take(message, true);
    if (typeof protocol === "string") {
      counters.dropped.unknownProtocol.add(1);
      return;
    }
    const source = sources.enter(share);
    const peer = new UdpPeer({ ...origin, source, number: ++this.#received }, this.#shared, this, protocol, opening);
    counters.opened.udp.add(1);
    peer.received(message);
    if (peer.closed || this.#peers.get(peer.key) === peer) return;
    if (peer.busy) {
      this.#asking.set(peer.key, peer);
      source.asking++;
    } else peer.close("notIdentified");
  }

  /** Its first device is not asked for any more. */
  #answered(peer: UdpPeer): void {
    if (this.#asking.get(peer.key) !== peer) return;
    this.#asking.delete(peer.key);
    peer.source.asking--;
  }
}

/** A port of ours, and the protocols that it speaks. */
interface UdpPort {
  readonly socket: Socket;
  readonly protocols: readonly AnyProtocol[];
}

/** A reply that can't be sent is a reply that is lost: the tracker sends its data again. */
function ignore(): void {}
