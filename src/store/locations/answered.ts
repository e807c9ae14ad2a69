import type { DeviceKey } from "../../model/device.ts";
import type { LocationRecord } from "../../model/location.ts";
import { recordsDamage } from "../records/damage.ts";
import { readRecords } from "../records/record-codec.ts";
import { momentText } from "./chunks.ts";
import { damaged, storeError } from "./failures.ts";

/**
 * Unpacks the records of a reader's answer. The reader looks only at their lengths and times, so other damage shows here. An error names the device and `time`, an event time
 * near the records.
 */
export function answeredRecords(bytes: Uint8Array, device: DeviceKey, time: number): LocationRecord[] {
  try {
    return readRecords(bytes);
  } catch (error) {
    const problem = recordsDamage(error);
    if (problem === undefined) throw error;
    throw storeError(damaged(`a record of device ${device} at about ${momentText(time)} is damaged: ${problem}`));
  }
}
