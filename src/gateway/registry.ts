import type { Contact, PresentDevice, Seen } from "../ports/presence.ts";
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

/** How a device was seen, and when something last came on the conversation that it left since, in ticks. */
interface Remembered extends Seen {
  readonly key: PresentDevice["key"];
  readonly heardAt?: number;
}

/** Devices whose last way and place are remembered, some 150 bytes each: all of a service of the default size, five times. */
const remembered = 100_000;

/** On which conversation each device is reached, by the id that it is registered under (`takeover.ts` decides), and where it was seen. Commands find their way by it. */
export class Registry {
  readonly #reachable = new Map<string, Reachable>();
  readonly #seen = new RecentMap<string, Remembered>(remembered);
  /** When the conversations of devices that are not reached ended, in ticks. */
  readonly #left = new RecentMap<string, number>(remembered);
  readonly #onChange: (device: string) => void;

  /** `onChange`: told of a device that is reached from now on, on another conversation, or no longer. */
  constructor(onChange: (device: string) => void = () => {}) {
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#reachable.size;
  }

  find(device: string): Reachable | undefined {
    return this.#reachable.get(device);
  }

  set(device: string, by: Reachable): void {
    if (this.#reachable.get(device) === by) return;
    this.#reachable.set(device, by);
    this.#onChange(device);
  }

  /** Forgets the device's conversation, unless it is reached on another one by now. */
  remove(device: string, by: Reachable, tick: number): void {
    if (this.#reachable.get(device) !== by) return;
    this.#reachable.delete(device);
    this.#left.set(device, tick);
    const seen = this.#seen.get(device);
    if (seen !== undefined) this.#seen.set(device, { ...seen, heardAt: by.heardAt });
    this.#onChange(device);
  }

  /** When the device's last conversation ended; of one that is not known, when the service started. */
  leftAt(device: string): number {
    return this.#left.get(device) ?? 0;
  }

  /** The device says who it is. */
  seen({ id, key }: PresentDevice, seen: Seen): void {
    this.#seen.set(id, { ...seen, key });
  }

  /** Where a device with this id was let in last. */
  lastAddress(id: string): string | undefined {
    return this.#seen.get(id)?.address;
  }

  lastSeen({ id, key }: PresentDevice): Seen | undefined {
    const seen = this.#seen.get(id);
    return seen?.key === key ? seen : undefined;
  }

  /** `tick` and `now`: the same moment, in ticks and epoch ms. */
  contact({ id, key }: PresentDevice, tick: number, now: number): Contact | undefined {
    const by = this.#reachable.get(id);
    const seen = this.#seen.get(id);
    if (seen !== undefined && seen.key !== key) return undefined;
    const heardAt = by?.heardAt ?? seen?.heardAt;
    const protocol = by?.protocol.id ?? seen?.protocol;
    if (protocol === undefined) return undefined;
    const heard = heardAt === undefined ? 0 : now - (tick - heardAt) * 1000;
    return { connected: by !== undefined, protocol, at: Math.max(seen?.at ?? 0, heard) };
  }
}
