import { addressGroup } from "../model/network.ts";
import { RecentMap } from "../shares/recent-map.ts";
import type { GatewayLimits } from "./limits.ts";

/** A conversation on which a device logged in. */
export interface Login {
  /** The peer's address, without its port. */
  readonly address: string;
  /**
   * The device was changed, deleted, renewed, or has expired: it must be admitted again, and nothing else of it is
   * taken before.
   */
  deviceChanged(device: string): void;
  /** The device logged in on another connection and is not reached by this one any more. */
  displaced(device: string): void;
}

/** How often logins from one address displaced a device's connections within a minute. */
interface Displacements {
  readonly since: number;
  count: number;
}

/** Devices with an address whose displacements are counted: who asked longest ago begins anew. */
const mostCounted = 10_000;
const windowSeconds = 60;

/**
 * The place of those that are only heard as the device, so that they end none by which it is reached. No id has a
 * space.
 */
export function besides(device: string): string {
  return `${device} besides`;
}

/**
 * On which connections each device is logged in: one over TCP, a few UDP peers, since a mobile network gives a tracker
 * another port at any time. A further login ends the oldest. So who knows a device's id, or the device itself in a
 * loop, takes a place or two, not all of the port.
 */
export class Logins {
  readonly #limits: Pick<GatewayLimits, "udpSessionsPerDevice" | "displacementsPerMinute">;
  readonly #tcp = new Map<string, Login>();
  readonly #udp = new Map<string, Set<Login>>();
  readonly #displacements = new RecentMap<string, Displacements>(mostCounted);

  constructor(limits: Pick<GatewayLimits, "udpSessionsPerDevice" | "displacementsPerMinute">) {
    this.#limits = limits;
  }

  /**
   * A device logs in, at its own place or `besides` it. Over TCP that may fail: logins from this address displaced the
   * place's connections too often within a minute. Then the connection that is there stays for the rest of the minute,
   * unless a login from another address displaces it. So who knows a device's id keeps out nobody but devices behind
   * the same address. `first` is true for the first login that fails in the minute. `tick`: whole seconds. `displaces`:
   * a connection to another process.
   */
  enter(
    place: string,
    by: Login,
    transport: "tcp" | "udp",
    tick: number,
    displaces = false,
  ): "entered" | { readonly first: boolean } {
    if (transport === "udp") {
      this.#enterUdp(place, by);
      return "entered";
    }
    const before = this.#tcp.get(place);
    if (displaces || (before !== undefined && before !== by)) {
      const over = this.#count(`${place} ${addressGroup(by.address)}`, tick) - this.#limits.displacementsPerMinute;
      if (over > 0) return { first: over === 1 };
    }
    this.#tcp.set(place, by);
    if (before !== by) before?.displaced(place);
    return "entered";
  }

  /** The device is not on this connection any more. */
  leave(place: string, by: Login): void {
    if (this.#tcp.get(place) === by) this.#tcp.delete(place);
    const peers = this.#udp.get(place);
    if (peers?.delete(by) === true && peers.size === 0) this.#udp.delete(place);
  }

  /** All that a device is logged in on is told of its change. */
  deviceChanged(device: string): void {
    const logins: Login[] = [];
    for (const place of [device, besides(device)]) {
      const connection = this.#tcp.get(place);
      if (connection !== undefined) logins.push(connection);
      logins.push(...(this.#udp.get(place) ?? []));
    }
    for (const login of logins) login.deviceChanged(device);
  }

  #enterUdp(place: string, by: Login): void {
    const peers = this.#udp.get(place) ?? new Set();
    this.#udp.set(place, peers);
    peers.delete(by);
    peers.add(by);
    if (peers.size <= this.#limits.udpSessionsPerDevice) return;
    for (const oldest of peers) {
      peers.delete(oldest);
      oldest.displaced(place);
      return;
    }
  }

  #count(key: string, tick: number): number {
    let counted = this.#displacements.get(key);
    if (counted === undefined || tick - counted.since >= windowSeconds) {
      counted = { since: tick, count: 0 };
      this.#displacements.set(key, counted);
    }
    return ++counted.count;
  }
}
