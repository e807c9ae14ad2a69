import type { Device, DeviceKey, IdentityRules, SpeedUnit, SpokenWay } from "../model/device.ts";
import { type FuelTables, fuelTablesOf } from "../model/fuel-table.ts";
import { parseNetwork } from "../model/network.ts";
import type { Bus, ReachChange } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Admission, Admitted, CameBy, Guard } from "../ports/intake.ts";
import type { Log } from "../ports/log.ts";
import type { DeviceStore } from "../ports/store.ts";
import { OwnClock } from "./own-clock.ts";
import { Ways } from "./ways.ts";

/**
 * Devices kept in memory, some 500 bytes each; the ones asked for longest ago make room, and are no longer live then.
 */
const rememberedDevices = 100_000;
/**
 * An admission older than this is asked for again: events tell of changes at once, but nothing may rest on them alone.
 */
const mostAgeMs = 60_000;
/** Lists of identifiers that a device is remembered under: a tracker reports one or two. */
const mostLists = 16;
/** A device that changes each time while it is being asked for is taken as it was found last, for one message. */
const mostTries = 3;

/** The device as it was handed out. */
function speaking(device: Admitted): AdmittedDevice {
  if (device instanceof AdmittedDevice) return device;
  throw new Error(`device ${device.id} was not admitted here`);
}

/** What is asked of who says that it is the device; undefined where nothing is. */
function guardOf({ protocols, networks, secretHash }: IdentityRules): Guard | undefined {
  if (protocols.length === 0 && networks.length === 0 && secretHash === null) return undefined;
  return {
    ...(protocols.length > 0 && { protocols: new Set(protocols) }),
    ...(networks.length > 0 && { networks: networks.flatMap((text) => parseNetwork(text) ?? []) }),
    ...(secretHash !== null && { secretHash }),
  };
}

/** An admitted device as the directory keeps it: connections hold it, so `live` changes in place. */
class AdmittedDevice implements Admitted {
  readonly status = "admitted";
  readonly key: DeviceKey;
  readonly accountKey: number;
  readonly id: string;
  readonly name: string;
  readonly model: string | undefined;
  readonly format: string | undefined;
  readonly ignoresChecksums: boolean;
  readonly expires: number | null;
  readonly odometerStart: number;
  readonly fuelTables: FuelTables | undefined;
  readonly timeOffset: number | undefined;
  readonly speedUnit: SpeedUnit | undefined;
  readonly guard: Guard | undefined;
  /** Lists of identifiers that it was found under. */
  readonly lists: (readonly string[])[] = [];
  readonly bornAt: number;
  ways: readonly SpokenWay[];
  live = true;

  constructor(device: Device, bornAt: number) {
    this.key = device.key;
    this.accountKey = device.accountKey;
    this.id = device.id;
    this.name = device.name;
    this.expires = device.expires;
    this.odometerStart = device.odometerStart;
    this.fuelTables = fuelTablesOf(device.tags);
    this.bornAt = bornAt;
    this.model = device.tags.model;
    this.format = device.tags.format;
    this.ignoresChecksums = device.tags.checksums === "ignore";
    this.timeOffset = device.timeOffset === 0 ? undefined : device.timeOffset;
    this.speedUnit = device.speedUnit ?? undefined;
    this.guard = guardOf(device.identity);
    this.ways = device.spoken;
  }
}

/**
 * Which registered device a tracker is. What it hands out is live until the device changes, expires or is deleted,
 * makes room for others, or grows old; every device that is live is in here, so all of that reaches whoever holds it.
 */
export class Directory {
  readonly #devices: DeviceStore;
  readonly #clock: Clock;
  /**
   * By identifiers as they were reported, joined: of several the first that is registered counts, so the whole list is
   * the question.
   */
  readonly #byNames = new Map<string, AdmittedDevice>();
  readonly #byKey = new Map<DeviceKey, AdmittedDevice>();
  /**
   * Devices that were found by lists of more than one identifier, by each identifier of the list: few protocols report
   * several.
   */
  readonly #byListed = new Map<string, Set<AdmittedDevice>>();
  readonly #unsubscribe: () => void;
  readonly #ways: Ways;
  readonly #ownClock: OwnClock;
  /** Grows with each change of any device, so that an answer that was under way during one is asked for again. */
  #changes = 0;

  /** `ownClock` is told of accounts whose devices report, at the latest every minute. */
  constructor(devices: DeviceStore, bus: Bus, clock: Clock, log: Log, ownClock = new OwnClock(clock)) {
    this.#ownClock = ownClock;
    this.#devices = devices;
    this.#ways = new Ways(devices, clock, log);
    this.#clock = clock;
    this.#unsubscribe = bus.subscribe((event, from) => {
      if (event.type === "reachChanged" && from !== undefined) this.#told(event.devices);
      if (event.type !== "deviceChanged") return;
      this.#changes++;
      this.#end(event.key);
      if (event.formerId !== undefined) this.#ways.forget(event.key);
      // The device may now be the first that some list of several identifiers finds.
      for (const { key } of this.#byListed.get(event.id) ?? []) this.#end(key);
    });
  }

  /**
   * Answers at once for a remembered device; otherwise asks the store. Unknown identifiers are not remembered: they may
   * be registered next.
   */
  admit(ids: readonly string[]): Admission | Promise<Admission> {
    return this.recall(ids) ?? this.ask(ids);
  }

  /** The device where it is remembered. */
  recall(ids: readonly string[]): Admitted | undefined {
    const known = this.#byNames.get(ids.length === 1 ? (ids[0] ?? "") : ids.join("\n"));
    return known !== undefined && this.mayReport(known) ? known : undefined;
  }

  /** Whether an admitted device may still report as it is; where not, it is to be admitted again. */
  mayReport(device: Admitted): boolean {
    if (!device.live || !(device instanceof AdmittedDevice)) return device.live;
    if (this.#hasExpired(device)) this.#end(device.key);
    else if (this.#clock.monotonic() - device.bornAt > mostAgeMs) this.#end(device.key);
    return device.live;
  }

  #told(changes: readonly ReachChange[]): void {
    for (const change of changes) {
      const device = this.#byKey.get(change.key);
      if (device !== undefined) this.#ways.told(device, change);
    }
  }

  /** By which way the device reports now. */
  spoke(device: Admitted, by: CameBy): SpokenWay {
    return this.#ways.spoke(speaking(device), by);
  }

  /** Commands may go this way from now on. */
  trust(device: Admitted, way: SpokenWay): void {
    this.#ways.trust(speaking(device), way);
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#ways.close();
  }

  /** What the store says. */
  async ask(ids: readonly string[]): Promise<Admission> {
    for (let tries = 1; ; tries++) {
      const changes = this.#changes;
      const device = await this.#devices.identify(ids);
      const changed = changes !== this.#changes;
      if (changed && tries < mostTries) continue;
      if (device === undefined) return { status: "unknown" };
      if (this.#hasExpired(device)) return { status: "expired", id: device.id, accountKey: device.accountKey };
      this.#ownClock.active(device.accountKey);
      return changed ? this.#once(device) : this.#remember(ids, device);
    }
  }

  /** By a clock that may be fast nobody expires. */
  #hasExpired({ expires }: { readonly expires: number | null }): boolean {
    return expires !== null && expires <= this.#clock.now() && this.#ownClock.mayExpire();
  }

  /**
   * It may be out of date already, and the event that told so has passed: whoever holds it asks again for the next
   * message.
   */
  #once(device: Device): Admitted {
    const admitted = new AdmittedDevice(device, this.#clock.monotonic());
    admitted.live = false;
    return admitted;
  }

  #remember(ids: readonly string[], device: Device): Admitted {
    const admitted = this.#byKey.get(device.key) ?? new AdmittedDevice(device, this.#clock.monotonic());
    const names = ids.join("\n");
    if (this.#byNames.get(names) !== admitted) {
      if (admitted.lists.length >= mostLists) {
        // Whoever holds it asks again; what is invented beside a known identifier must not gather.
        this.#end(device.key);
        return this.#remember(ids, device);
      }
      admitted.lists.push(ids);
      this.#byNames.set(names, admitted);
      if (ids.length > 1) for (const id of ids) this.#list(id, admitted);
    }
    this.#byKey.set(device.key, admitted);
    if (this.#byKey.size > rememberedDevices) {
      const [oldest] = this.#byKey.keys();
      if (oldest !== undefined) this.#end(oldest);
    }
    return admitted;
  }

  #list(id: string, device: AdmittedDevice): void {
    const listed = this.#byListed.get(id);
    if (listed === undefined) this.#byListed.set(id, new Set([device]));
    else listed.add(device);
  }

  #unlist(id: string, device: AdmittedDevice): void {
    const listed = this.#byListed.get(id);
    if (listed?.delete(device) && listed.size === 0) this.#byListed.delete(id);
  }

  /** The device is not live any longer, and forgotten. */
  #end(key: DeviceKey): void {
    const device = this.#byKey.get(key);
    if (device === undefined) return;
    device.live = false;
    this.#byKey.delete(key);
    for (const ids of device.lists) {
      const names = ids.join("\n");
      if (this.#byNames.get(names) === device) this.#byNames.delete(names);
      if (ids.length > 1) for (const id of ids) this.#unlist(id, device);
    }
  }
}
