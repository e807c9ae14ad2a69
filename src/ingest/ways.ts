import type { DeviceKey, SeenNetwork, SpokenWay } from "../model/device.ts";
import { providerNetwork } from "../model/network.ts";
import type { ReachChange } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { CameBy } from "../ports/intake.ts";
import type { Log } from "../ports/log.ts";
import { type DeviceStore, StoreUnavailable } from "../ports/store.ts";
import { divide, type Failure } from "./division.ts";

/** A device as it was read, with the ways by which it had reported then. */
interface Speaking {
  readonly key: DeviceKey;
  readonly id: string;
  ways: readonly SpokenWay[];
}

/** Ways of a device that wait for the store. */
type WaitingWays = readonly [DeviceKey, readonly SpokenWay[]];

/**
 * Devices whose new ways wait for the store: a whole new fleet at once. What comes on top is written when the device
 * next says who it is.
 */
const mostWaiting = 20_000;
/** Time from the first new way until ways are written together, ms; and until the next try if the store was down. */
const writeAfterMs = 1000;
/** Networks that are kept of a way: mobile providers have some. */
const mostNetworks = 8;
/**
 * When so many are kept, a further one is recorded so long after the newest at the earliest, ms: forged datagrams from
 * everywhere must not cause writes.
 */
const networkEveryMs = 3_600_000;
/** In one transaction: some milliseconds, which no commit minds. */
const mostAtOnce = 500;

/**
 * By which protocols and transports devices report, and from which networks. A way is written when it is new, becomes
 * trusted or has a new network, never for a message.
 */
export class Ways {
  readonly #store: Pick<DeviceStore, "spoke">;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #waiting = new Map<DeviceKey, readonly SpokenWay[]>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<boolean> | undefined;

  constructor(store: Pick<DeviceStore, "spoke">, clock: Clock, log: Log) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  /** The way by which the device reports now. The first that it ever takes is trusted. */
  spoke(device: Speaking, { protocol, transport, address }: CameBy): SpokenWay {
    for (const way of device.ways)
      if (way.protocol === protocol && way.transport === transport) return this.#from(device, way, address);
    // The device may have been read before the store had it.
    const waiting = this.#waiting.get(device.key) ?? [];
    const known = waiting.find((way) => way.protocol === protocol && way.transport === transport);
    const now = this.#clock.now();
    const first = device.ways.length === 0 && waiting.length === 0;
    const networks = [{ network: providerNetwork(address), since: now }];
    const way = known ?? { protocol, transport, since: now, address, trustedAt: first ? now : null, networks };
    device.ways = [...device.ways, way];
    if (known === undefined) this.#record(device, way);
    if (known === undefined && !first)
      this.#log.info(
        { device: device.id, protocol, transport, address },
        "a device reports in a way it never did before",
      );
    return way;
  }

  /** The way of a device that comes from this address, with its network. */
  #from(device: Speaking, way: SpokenWay, address: string): SpokenWay {
    const networks = withNetwork(way.networks, providerNetwork(address), this.#clock.now());
    if (networks === way.networks) return way;
    const seen = { ...way, networks };
    device.ways = withWay(device.ways, seen);
    this.#record(device, seen);
    return seen;
  }

  /** Commands may go this way from now on. */
  trust(device: Speaking, way: SpokenWay): void {
    if (way.trustedAt !== null) return;
    const trusted = { ...way, trustedAt: this.#clock.now() };
    device.ways = withWay(device.ways, trusted);
    this.#record(device, trusted);
    const { protocol, transport } = way;
    this.#log.info({ device: device.id, protocol, transport }, "commands to a device go another way from now on");
  }

  /** Another process was reported to, and stores how. Where it reaches the device, the way is trusted. */
  told(device: Speaking, { protocol, transport, address, at, mark }: ReachChange): void {
    const known = device.ways.find((way) => way.protocol === protocol && way.transport === transport);
    const trustedAt = mark === undefined ? null : at;
    if (known !== undefined && (known.trustedAt !== null || trustedAt === null)) return;
    const networks = [{ network: providerNetwork(address), since: at }];
    const way = known ?? { protocol, transport, since: at, address, trustedAt: null, networks };
    device.ways = withWay(device.ways, { ...way, trustedAt });
  }

  /** Another tracker reports as the device from now on: what waits is of the one before. */
  forget(device: DeviceKey): void {
    this.#waiting.delete(device);
  }

  /** Writes what waits; what the store does not take by now is found again when the device next speaks. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#writing;
    while (this.#waiting.size > 0 && (await this.#write()));
    clearTimeout(this.#timer);
  }

  #record({ key }: Speaking, way: SpokenWay): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined && this.#waiting.size >= mostWaiting) return;
    this.#waiting.set(key, withWay(waiting ?? [], way));
    this.#schedule();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#writing = this.#write();
    }, writeAfterMs);
    this.#timer.unref();
  }

  /** Writes a part of what waits. False: the store is down. */
  async #write(): Promise<boolean> {
    const batch = [...this.#waiting].slice(0, mostAtOnce);
    try {
      await divide(
        batch,
        (some) => this.#try(some),
        (one, { error }) => {
          this.#log.debug({ error, device: one[0] }, "how a device reports can't be written; the others' ways are");
          this.#written(one);
        },
      );
      return true;
    } catch (error) {
      this.#log.debug({ error }, "how devices report could not be written; it is tried again");
      return false;
    } finally {
      this.#schedule();
    }
  }

  /** A failure: not the store's, but of one of these devices. */
  async #try(batch: readonly WaitingWays[]): Promise<Failure | undefined> {
    try {
      await this.#store.spoke(batch.flatMap(([device, ways]) => ways.map((way) => ({ device, way }))));
    } catch (error) {
      if (error instanceof StoreUnavailable && error.trouble === "down") throw error;
      return { error };
    }
    for (const one of batch) this.#written(one);
    return undefined;
  }

  /** Nothing of this waits any longer, unless it changed meanwhile. */
  #written([device, ways]: WaitingWays): void {
    if (this.#waiting.get(device) === ways) this.#waiting.delete(device);
  }
}

/** The ways with this one, in place of what is known of the same. */
function withWay(ways: readonly SpokenWay[], way: SpokenWay): readonly SpokenWay[] {
  const at = ways.findIndex(({ protocol, transport }) => protocol === way.protocol && transport === way.transport);
  return at < 0 ? [...ways, way] : ways.with(at, way);
}

/** The same list where the network is in it, or came too soon. */
function withNetwork(networks: readonly SeenNetwork[], network: string, now: number): readonly SeenNetwork[] {
  if (networks.some((seen) => seen.network === network)) return networks;
  const newest = networks.at(-1)?.since ?? Number.NEGATIVE_INFINITY;
  if (networks.length >= mostNetworks && Math.abs(now - newest) < networkEveryMs) return networks;
  return [...networks, { network, since: now }].slice(-mostNetworks);
}
