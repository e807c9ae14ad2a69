import type { Alarm } from "../../model/alarms.ts";
import { bit, type Reader } from "../../wire/reader.ts";
import { type Draft, raise } from "../../wire/report.ts";

/**
 * Alarms that VSTATE says last, by their bits. Its other bits tell of power (9 came, 21 went), of the plug (15 pulled),
 * of no GPS receiver (20), of the vehicle's bus (22), and of what has no name among the alarms: 7 exhaust, 16 and 17
 * entry and ignition that nobody allowed, 19 privacy, 25 no card, 26 dangerous driving.
 */
const stateAlarms: ReadonlyMap<number, Alarm> = new Map([
  [0, "lowPower"],
  [1, "tow"],
  [2, "overspeed"],
  [3, "temperature"],
  [4, "hardAcceleration"],
  [5, "hardBraking"],
  [6, "idle"],
  [8, "highRpm"],
  [10, "laneChange"],
  [11, "hardCornering"],
  [12, "fatigueDriving"],
  [13, "sos"],
  [14, "accident"],
  [24, "unlock"],
  [27, "vibration"],
]);
const alarmMask = [...stateAlarms.keys()].reduce((mask, index) => mask | (1 << index), 0);

/** Bits of VSTATE for the alarms that it has. */
export const alarmBits: ReadonlyMap<Alarm, number> = new Map([...stateAlarms].map(([index, alarm]) => [alarm, index]));

/** Raises the alarms of a VSTATE. */
export function raiseStates(report: Draft, state: number): void {
  if ((state & alarmMask) === 0) return;
  for (const [index, alarm] of stateAlarms) if (bit(state, index)) raise(report, alarm);
}

/**
 * Alarm types of ALARM_DATA. Those without a name among the alarms are `general`: 0x0A exhaust, 0x13 entry, 0x14
 * ignition, 0x1A no card, 0x1B dangerous driving.
 */
const alarmTypes: ReadonlyMap<number, Alarm> = new Map([
  [0x01, "overspeed"],
  [0x02, "lowPower"],
  [0x03, "temperature"],
  [0x04, "hardAcceleration"],
  [0x05, "hardBraking"],
  [0x06, "idle"],
  [0x07, "tow"],
  [0x08, "highRpm"],
  [0x09, "powerOn"],
  [0x0b, "laneChange"],
  [0x0c, "hardCornering"],
  [0x0d, "fatigueDriving"],
  [0x0e, "powerCut"],
  [0x0f, "geofence"],
  [0x10, "sos"],
  [0x11, "accident"],
  [0x12, "tampering"],
  [0x15, "tampering"],
  [0x16, "ignitionOn"],
  [0x17, "ignitionOff"],
  [0x18, "fault"],
  [0x19, "unlock"],
  [0x1c, "vibration"],
]);

/** ALARM_DATA: a count, and of each alarm whether it is new (0: it ended), its type, its value and its threshold. */
export function readAlarms(reader: Reader, report: Draft): void {
  const begun: number[] = [];
  const ended: number[] = [];
  const details: string[] = [];
  const unnamed: number[] = [];
  for (let left = reader.u8(); left > 0 && reader.remaining >= 6; left--) {
    const isNew = reader.u8() !== 0;
    const type = reader.u8();
    const [value, threshold] = [reader.u16le(), reader.u16le()];
    (isNew ? begun : ended).push(type);
    details.push(`${type},${value},${threshold}`);
    if (!isNew) continue;
    const alarm = alarmTypes.get(type);
    if (alarm === undefined) unnamed.push(type);
    raise(report, alarm ?? "general");
    if (alarm === "ignitionOn" || alarm === "ignitionOff") report.readings.ignition = alarm === "ignitionOn";
  }
  putNumbers(report, "event", begun);
  putNumbers(report, "alarmCode", unnamed);
  putNumbers(report, "alarmsEnded", ended);
  if (details.length > 0) report.attributes.alarmValues = details.join(";");
}

/** One number as it is, several as text. */
function putNumbers({ attributes }: Draft, name: string, values: readonly number[]): void {
  const [first] = values;
  if (first !== undefined) attributes[name] = values.length === 1 ? first : values.join(",");
}
