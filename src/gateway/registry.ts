import type { ReachChange } from "../ports/bus.ts";
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
  /**
   * Whether the peer still is that device: after a change, its identifiers may be another one's. Where that is being
   * asked, the answer is waited for.
   */
  speaksFor(device: string): boolean | Promise<boolean>;
  /** What its protocol answers to these bytes. */
  expects(bytes: Uint8Array): ExpectedReply;
  /**
   * A command's text as the protocol wraps it for the device, with a mark that no command before had. `otherSpeaks`:
   * another device spoke last, and the text would be addressed to that one.
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
  /**
   * When the other processes were told, counted by who has come: those that are there now know it where it is the
   * present number.
   */
  readonly told: number;
}

/** A device that is reached here. */
interface Own {
  readonly by: Reachable;
  readonly mark: number;
}

/** How another process reaches a device. */
export interface Elsewhere extends Pick<Seen, "protocol" | "transport" | "address"> {
  readonly process: string;
  readonly mark: number;
  /** When it was told, in ticks. */
  readonly since: number;
  /** When the other process was last asked to let go of it, in ticks. */
  askedAt: number;
}

/**
 * Devices whose last way and place are remembered, some 150 bytes each: all of a service of the default size, five
 * times.
 */
const remembered = 100_000;

/** What the registry needs of the gateway. */
export interface RegistryContext {
  /** Epoch ms. */
  readonly now: () => number;
  /** 0 to 1, of this process alone: so no two that take a device at the same moment have the same mark. */
  readonly fraction: number;
  /** Tells other processes. */
  readonly tell: (changes: readonly ReachChange[]) => void;
}

const alone: RegistryContext = { now: () => 0, fraction: 0, tell: () => {} };

/**
 * On which conversation each device is reached, by the id that it is registered under (`takeover.ts` decides), or which
 * other process reaches it, and where it was seen. Commands find their way by it.
 */
export class Registry {
  readonly #context: RegistryContext;
  readonly #own = new Map<string, Own>();
  readonly #elsewhere = new Map<string, Elsewhere>();
  /** The other processes that are there. */
  readonly #processes = new Set<string>();
  readonly #seen = new RecentMap<string, Remembered>(remembered);
  /**
   * When the conversations of devices that are not reached ended, in ticks, and their marks: what is told of earlier
   * ones later is over.
   */
  readonly #left = new RecentMap<string, { readonly tick: number; readonly mark: number }>(remembered);
  readonly #listeners: ((device: string) => void)[] = [];
  /** How often processes have come. */
  #arrivals = 1;

  constructor(context: RegistryContext = alone) {
    this.#context = context;
  }

  /** Told of a device that is reached from now on, on another conversation, or no longer. */
  onChange(listener: (device: string) => void): void {
    this.#listeners.push(listener);
  }

  get size(): number {
    return this.#own.size;
  }

  find(device: string): Reachable | undefined {
    return this.#own.get(device)?.by;
  }

  /** Where it is not reached here. */
  elsewhere(device: string): Elsewhere | undefined {
    return this.#elsewhere.get(device);
  }

  set(device: string, by: Reachable): void {
    const before = this.#own.get(device);
    if (before?.by === by) return;
    const other = this.#elsewhere.get(device);
    const known = before ?? other ?? this.#left.get(device);
    const mark = Math.max(this.#context.now(), Math.floor(known?.mark ?? 0) + 1) + this.#context.fraction;
    this.#own.set(device, { by, mark });
    this.#elsewhere.delete(device);
    this.#tell(device, mark);
    if (other?.protocol !== by.protocol.id) this.#changed(device);
  }

  /** Forgets the device's conversation, unless it is reached on another one by now. */
  remove(device: string, by: Reachable, tick: number): void {
    const own = this.#own.get(device);
    if (own?.by !== by) return;
    this.#own.delete(device);
    this.#left.set(device, { tick, mark: own.mark });
    const seen = this.#seen.get(device);
    if (seen !== undefined) this.#seen.set(device, { ...seen, heardAt: by.heardAt });
    this.#tell(device);
    this.#changed(device);
  }

  /** When the device's last conversation ended; of one that is not known, when the service started. */
  leftAt(device: string): number {
    return this.#left.get(device)?.tick ?? 0;
  }

  /** The device says who it is. */
  seen({ id, key }: PresentDevice, seen: Seen): void {
    const before = this.#seen.get(id);
    const same = before !== undefined && before.key === key && isSameWay(before, seen);
    this.#seen.set(id, { ...seen, key, told: same ? before.told : 0 });
  }

  /** Something came from a device to another process. */
  heard(id: string, tick: number): void {
    const seen = this.#seen.get(id);
    if (seen !== undefined) this.#seen.set(id, { ...seen, heardAt: tick });
  }

  /** Has other processes know how a device came that is not reached here. */
  tellSeen(id: string): void {
    if (!this.#own.has(id) && this.#seen.get(id)?.told !== this.#arrivals) this.#tell(id);
  }

  /** Where a device with this id was let in last. */
  lastAddress(id: string): string | undefined {
    return this.#seen.get(id)?.address;
  }

  lastSeen({ id, key }: PresentDevice): Seen | undefined {
    const seen = this.#seen.get(id);
    if (seen?.key !== key) return undefined;
    const { protocol, transport, address, at } = seen;
    return { protocol, transport, address, at };
  }

  /** `tick` and `now`: the same moment, in ticks and epoch ms. */
  contact({ id, key }: PresentDevice, tick: number, now: number): Contact | undefined {
    const by = this.#own.get(id)?.by;
    const other = this.#elsewhere.get(id);
    const seen = this.#seen.get(id);
    if (seen !== undefined && seen.key !== key) return undefined;
    const heardAt = by?.heardAt ?? seen?.heardAt;
    const protocol = by?.protocol.id ?? other?.protocol ?? seen?.protocol;
    if (protocol === undefined) return undefined;
    const heard = heardAt === undefined ? 0 : now - (tick - heardAt) * 1000;
    return { connected: (by ?? other) !== undefined, protocol, at: Math.max(seen?.at ?? 0, heard) };
  }

  /**
   * Another process told how a device came to it. Gives the conversation on which the device was reached here, if that
   * ends so.
   */
  told(process: string, change: ReachChange, tick: number): Reachable | undefined {
    const { id, key, protocol, transport, address, at, mark } = change;
    const seen = this.#seen.get(id);
    if (seen === undefined || seen.at <= at) {
      // It may have been heard of since, where this is told once more.
      const heardAt = seen?.key === key ? seen.heardAt : undefined;
      const way = { key, protocol, transport, address, at, ...(heardAt !== undefined && { heardAt }) };
      this.#seen.set(id, { ...way, told: this.#arrivals });
    }
    const own = this.#own.get(id);
    const known = this.#elsewhere.get(id);
    if (mark === undefined) {
      if (known?.process === process) this.#gone(id, known, tick);
      return undefined;
    }
    if (!this.#processes.has(process) || mark <= ((own ?? known ?? this.#left.get(id))?.mark ?? 0)) return undefined;
    this.#elsewhere.set(id, { process, mark, protocol, transport, address, since: tick, askedAt: tick });
    this.#own.delete(id);
    if ((own?.by.protocol.id ?? known?.protocol) !== protocol) this.#changed(id);
    return own?.by;
  }

  /**
   * Another process heard a device by datagrams: where it was silent here for so long, it is not reached here any
   * longer.
   */
  release(device: string, quietSeconds: number, tick: number): void {
    const by = this.#own.get(device)?.by;
    if (by?.transport === "udp" && tick - by.heardAt >= quietSeconds) this.remove(device, by, tick);
  }

  /** From now on these processes are heard. */
  came(processes: readonly string[]): void {
    for (const process of processes) this.#processes.add(process);
  }

  /** What these processes reached, they reach no longer. What they told before may come still. */
  missed(processes: readonly string[], tick: number): void {
    for (const process of processes) this.#processes.delete(process);
    for (const [id, known] of this.#elsewhere) if (processes.includes(known.process)) this.#gone(id, known, tick);
  }

  /** All that is reached here, for processes that have come. They are told of all others when these are seen again. */
  forThoseWhoCame(): Generator<ReachChange, void> {
    this.#arrivals++;
    return this.#all();
  }

  *#all(): Generator<ReachChange, void> {
    for (const [id, { mark }] of this.#own) {
      const way = this.#wayOf(id);
      if (way !== undefined) yield { ...way, mark };
    }
  }

  #wayOf(id: string): ReachChange | undefined {
    const seen = this.#seen.get(id);
    if (seen === undefined) return undefined;
    const { key, protocol, transport, address, at } = seen;
    return { id, key, protocol, transport, address, at };
  }

  #tell(id: string, mark?: number): void {
    const seen = this.#seen.get(id);
    const way = this.#wayOf(id);
    if (seen === undefined || way === undefined) return;
    this.#seen.set(id, { ...seen, told: this.#arrivals });
    this.#context.tell([{ ...way, ...(mark !== undefined && { mark }) }]);
  }

  #gone(id: string, { mark }: Elsewhere, tick: number): void {
    this.#elsewhere.delete(id);
    this.#left.set(id, { tick, mark });
    this.#changed(id);
  }

  #changed(device: string): void {
    for (const listener of this.#listeners) listener(device);
  }
}

function isSameWay(one: Seen, other: Seen): boolean {
  return one.protocol === other.protocol && one.transport === other.transport && one.address === other.address;
}
