import type { Presence, Seen } from "../ports/presence.ts";
import { RecentMap } from "../shares/recent-map.ts";
import type { ExpectedReply, Transport } from "../wire/protocol.ts";
import type { Login } from "./logins.ts";

/** A conversation on which a device is reached. */
export interface Reachable extends Login {
  readonly protocol: { readonly id: string };
  readonly transport: Transport;
  /** When it began and when it was last heard, in ticks. */
  readonly since: number;
  readonly heardAt: number;
  /** Whether the peer still is that device: after a change, its identifiers may be another one's. Where that is being asked, the answer is waited for. */
  speaksFor(device: string): boolean | Promise<boolean>;
  /** What its protocol answers to these bytes. */
  expects(bytes: Uint8Array): ExpectedReply;
  /**
   * A command's text as the protocol wraps it for the device, with a mark that no command before had. `otherSpeaks`: another device spoke last, and
   * the text would be addressed to that one.
   */
  encode(
    text: string,
    device: string,
    mark: number,
  ): Uint8Array | { readonly refused: string } | "noForm" | "otherSpeaks";
  /** Writes bytes to the peer. */
  write(bytes: Uint8Array): void;
}

/** Devices whose last way and place are remembered, some 150 bytes each: all of a service of the default size, five times. */
const remembered = 100_000;

/** On which conversation each device is reached, by the id that it is registered under (`takeover.ts` decides), and where it was seen. Commands find their way by it. */
export class Registry implements Presence {
  readonly #reachable = new Map<string, Reachable>();
  readonly #seen = new RecentMap<string, Seen>(remembered);
  /** When the conversations of devices that are not reached ended, in ticks. */
  readonly #left = new RecentMap<string, number>(remembered);

  get size(): number {
    return this.#reachable.size;
  }

  find(device: string): Reachable | undefined {
    return this.#reachable.get(device);
  }

  set(device: string, by: Reachable): void {
    this.#reachable.set(device, by);
  }

  /** Forgets the device's conversation, unless it is reached on another one by now. */
  remove(device: string, by: Reachable, tick: number): void {
    if (this.#reachable.get(device) !== by) return;
    this.#reachable.delete(device);
    this.#left.set(device, tick);
  }

  /** When the device's last conversation ended; of one that is not known, when the service started. */
  leftAt(device: string): number {
    return this.#left.get(device) ?? 0;
  }

  /** The device says who it is. */
  seen(device: string, seen: Seen): void {
    this.#seen.set(device, seen);
  }

  lastSeen(device: string): Seen | undefined {
    return this.#seen.get(device);
  }
}
