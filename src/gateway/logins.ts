import { RecentMap } from "../shares/recent-map.ts";
import type { GatewayLimits } from "./limits.ts";

/** A conversation on which a device logged in. */
export interface Login {
  /** The device logged in on another connection and is not reached by this one any more. */
  displaced(device: string): void;
}

/** How often a device's connections were displaced within a minute. */
interface Displacements {
  readonly since: number;
  count: number;
}

/** Devices whose displacements are counted: who asked longest ago begins anew. */
const countedDevices = 10_000;
const windowSeconds = 60;

/**
 * On which connections each device is logged in: one over TCP, a few UDP peers, since a mobile network gives a tracker another port at any time. A
 * further login ends the oldest. So who knows a device's id, or the device itself in a loop, takes a place or two, not all of the port.
 */
export class Logins {
  readonly #limits: Pick<GatewayLimits, "udpSessionsPerDevice" | "displacementsPerMinute">;
  readonly #tcp = new Map<string, Login>();
  readonly #udp = new Map<string, Set<Login>>();
  readonly #displacements = new RecentMap<string, Displacements>(countedDevices);

  constructor(limits: Pick<GatewayLimits, "udpSessionsPerDevice" | "displacementsPerMinute">) {
    this.#limits = limits;
  }

  /**
   * The device logs in. Over TCP that may fail: `often`, the device's connections displaced each other too often within a minute, so the one that has the
   * device keeps it; `first` is true for the first such login of the minute. `tick`: whole seconds.
   */
  enter(device: string, by: Login, transport: "tcp" | "udp", tick: number): "entered" | { readonly first: boolean } {
    if (transport === "udp") {
      this.#enterUdp(device, by);
      return "entered";
    }
    const before = this.#tcp.get(device);
    if (before !== undefined && before !== by) {
      const over = this.#count(device, tick) - this.#limits.displacementsPerMinute;
      if (over > 0) return { first: over === 1 };
    }
    this.#tcp.set(device, by);
    if (before !== by) before?.displaced(device);
    return "entered";
  }

  /** The device is not on this connection any more. */
  leave(device: string, by: Login): void {
    if (this.#tcp.get(device) === by) this.#tcp.delete(device);
    const peers = this.#udp.get(device);
    if (peers?.delete(by) === true && peers.size === 0) this.#udp.delete(device);
  }

  #enterUdp(device: string, by: Login): void {
    const peers = this.#udp.get(device) ?? new Set();
    this.#udp.set(device, peers);
    peers.delete(by);
    peers.add(by);
    if (peers.size <= this.#limits.udpSessionsPerDevice) return;
    for (const oldest of peers) {
      peers.delete(oldest);
      oldest.displaced(device);
      return;
    }
  }

  #count(device: string, tick: number): number {
    let counted = this.#displacements.get(device);
    if (counted === undefined || tick - counted.since >= windowSeconds) {
      counted = { since: tick, count: 0 };
      this.#displacements.set(device, counted);
    }
    return ++counted.count;
  }
}
