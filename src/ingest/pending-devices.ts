import type { DeviceKey } from "../model/device.ts";
import type { Admitted } from "../ports/intake.ts";
import { PendingDevice } from "./pending.ts";

/** Bytes of reports of one append (an estimate); what waits beyond is the next one. */
const mostBatchBytes = 8 * 1024 * 1024;
/**
 * A device of which no more waits is in the next batch, before those that send a backlog: some fifty reports. Such
 * devices make a batch no more than twice as large.
 */
const fewBytes = 32 * 1024;

/** The reports that gather while an append is in flight, by device. */
export class PendingDevices {
  #devices = new Map<DeviceKey, PendingDevice>();

  get size(): number {
    return this.#devices.size;
  }

  of(device: Admitted): PendingDevice {
    const known = this.#devices.get(device.key);
    if (known !== undefined) {
      known.device = device;
      return known;
    }
    const made = new PendingDevice(device);
    this.#devices.set(device.key, made);
    return made;
  }

  bytesOf(device: DeviceKey): number {
    return this.#devices.get(device)?.bytes ?? 0;
  }

  /**
   * Takes the next batch: devices with few reports first, then backlogs as far as there is room. What stays stands
   * first next time.
   */
  take(): readonly PendingDevice[] {
    const few: PendingDevice[] = [];
    const backlogs: PendingDevice[] = [];
    const rest = new Map<DeviceKey, PendingDevice>();
    let bytes = 0;
    for (const [key, pending] of this.#devices) {
      const isFew = pending.bytes <= fewBytes;
      if (bytes > (isFew ? 2 * mostBatchBytes : mostBatchBytes)) rest.set(key, pending);
      else {
        (isFew ? few : backlogs).push(pending);
        bytes += pending.bytes;
      }
    }
    this.#devices = rest;
    return [...few, ...backlogs];
  }
}
