import type { Device, DeviceKey } from "../model/device.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Admission, Admitted } from "../ports/intake.ts";
import type { DeviceStore } from "../ports/store.ts";

/** Identifiers kept in memory, some 300 bytes each; the ones looked up longest ago make room. */
const rememberedIdentifiers = 200_000;

/** An admitted device as the directory keeps it: connections hold it, so `live` changes in place. */
class AdmittedDevice implements Admitted {
  readonly status = "admitted";
  readonly key: DeviceKey;
  readonly id: string;
  readonly expires: number | null;
  live = true;

  constructor(device: Device) {
    this.key = device.key;
    this.id = device.id;
    this.expires = device.expires;
  }
}

/** Which registered device an identifier belongs to, remembered in memory until the device changes. */
export class Directory {
  readonly #devices: DeviceStore;
  readonly #clock: Clock;
  readonly #byIdentifier = new Map<string, AdmittedDevice>();
  readonly #identifiersOf = new Map<DeviceKey, Set<string>>();
  readonly #unsubscribe: () => void;
  /** Grows with each change of a device, so that an answer that was under way during one is not remembered. */
  #changes = 0;

  constructor(devices: DeviceStore, bus: Bus, clock: Clock) {
    this.#devices = devices;
    this.#clock = clock;
    this.#unsubscribe = bus.subscribe((event) => {
      if (event.type === "deviceChanged") this.#forget(event.key);
    });
  }

  /** Answers at once for a remembered device; otherwise asks the store. Unknown identifiers are not remembered: they may be registered next. */
  admit(ids: readonly string[]): Admission | Promise<Admission> {
    for (const id of ids) {
      const known = this.#byIdentifier.get(id);
      if (known !== undefined) return this.#whileNotExpired(known);
    }
    return this.#ask(ids);
  }

  /** Whether an admitted device may still report; turns it off at the moment it expires. */
  mayReport(device: Admitted): boolean {
    if (!device.live) return false;
    if (!(device instanceof AdmittedDevice)) return true;
    return this.#whileNotExpired(device).status === "admitted";
  }

  close(): void {
    this.#unsubscribe();
  }

  async #ask(ids: readonly string[]): Promise<Admission> {
    const changes = this.#changes;
    const device = await this.#devices.identify(ids);
    if (device === undefined) return { status: "unknown" };
    const admitted = this.#remembered(device.key) ?? new AdmittedDevice(device);
    if (changes === this.#changes) this.#remember(ids, device, admitted);
    return this.#whileNotExpired(admitted);
  }

  #whileNotExpired(device: AdmittedDevice): Admission {
    if (device.expires === null || device.expires > this.#clock.now()) return device;
    this.#forget(device.key);
    return { status: "expired" };
  }

  #remembered(key: DeviceKey): AdmittedDevice | undefined {
    for (const id of this.#identifiersOf.get(key) ?? []) return this.#byIdentifier.get(id);
    return undefined;
  }

  #remember(ids: readonly string[], device: Device, admitted: AdmittedDevice): void {
    const known = this.#identifiersOf.get(device.key) ?? new Set();
    this.#identifiersOf.set(device.key, known);
    for (const id of ids) {
      if (id !== device.id && !device.aliases.includes(id)) continue;
      known.add(id);
      this.#byIdentifier.set(id, admitted);
    }
    while (this.#byIdentifier.size > rememberedIdentifiers) {
      const [oldest] = this.#byIdentifier.values();
      if (oldest === undefined) break;
      this.#drop(oldest.key);
    }
  }

  #forget(key: DeviceKey): void {
    this.#changes++;
    const device = this.#remembered(key);
    if (device !== undefined) device.live = false;
    this.#drop(key);
  }

  /** Forgets where a device is found; those who hold it go on. */
  #drop(key: DeviceKey): void {
    for (const id of this.#identifiersOf.get(key) ?? []) this.#byIdentifier.delete(id);
    this.#identifiersOf.delete(key);
  }
}
