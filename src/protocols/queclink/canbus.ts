import type { NumberReading } from "../../model/readings.ts";
import { type Draft, put } from "../../wire/report.ts";
import { hexOf, numberOf } from "../../wire/text.ts";
import { keep, keepNumber } from "./sentence.ts";
import { thousandth } from "./status.ts";

/** Reads one item of the CAN report. */
type Item = (report: Draft, text: string) => void;

/** An item that the catalogue has; `factor` is from its unit to the reading's. */
function reading(name: NumberReading, manualName: string, factor = 1): Item {
  return (report, text) => {
    const value = numberOf(text);
    if (value === undefined || Math.abs(value) > 1e9) keep(report, manualName, text);
    else put(report, name, Math.round(value * factor * 1e6) / 1e6, manualName);
  };
}

function item(name: string): Item {
  return (report, text) => keepNumber(report, name, text);
}

function textItem(name: string): Item {
  return (report, text) => keep(report, name, text);
}

/** Kilometres of hectometres `H`; impulses `I` stay as they are. */
function distance(report: Draft, text: string): void {
  const value = numberOf(text.slice(1));
  if (text.startsWith("H") && value !== undefined) put(report, "odometer", value / 10, "canTotalDistance");
  else keep(report, "canTotalDistance", text);
}

/** Litres `L` or a percentage `P`. */
function level(volume: NumberReading, percent: NumberReading, manualName: string): Item {
  return (report, text) => {
    const value = numberOf(text.slice(1));
    if (text.startsWith("L") && value !== undefined) put(report, volume, value, `${manualName}Litres`);
    else if (text.startsWith("P") && value !== undefined) put(report, percent, value, `${manualName}Percent`);
    else keepNumber(report, manualName, text);
  };
}

/** Litres, with or without `L`; `K` are kilograms of gas. */
function litres(name: NumberReading, manualName: string): Item {
  return (report, text) => {
    const value = numberOf(text.startsWith("L") ? text.slice(1) : text);
    if (value === undefined) keep(report, manualName, text);
    else put(report, name, value, manualName);
  };
}

/** `L/H` and a number, `L/100KM` and a number, or another unit. */
function consumption(report: Draft, text: string): void {
  const unit = text.startsWith("L/H") ? "L/H" : text.toUpperCase().startsWith("L/100KM") ? "L/100KM" : undefined;
  const value = unit === undefined ? undefined : numberOf(text.slice(unit.length));
  if (value === undefined) keep(report, "canConsumption", text);
  else put(report, unit === "L/H" ? "fuelRate" : "fuelConsumption", value, "canConsumption");
}

function ignition(report: Draft, text: string): void {
  const key = numberOf(text);
  // 0 off, 1 on, 2 engine on. What the tracker itself says of the ignition came first.
  if (key !== undefined) report.readings.ignition ??= key > 0;
}

/** Driver, passenger, rear left, rear right doors in the lowest bits; then trunk and hood. */
function doors(report: Draft, text: string): void {
  const bits = hexOf(text);
  if (bits !== undefined) report.readings.doorOpen = (bits & 0x0f) !== 0;
  keep(report, "doors", text);
}

const idleFuel: Item = (report, text) =>
  keepNumber(report, "idleFuelUsed", text.startsWith("L") ? text.slice(1) : text);

/** Items of the report mask, in the order in which they stand, with their bits. (GV300CAN 4.02, +RESP:GTCAN) */
const items: readonly (readonly [bit: number, Item])[] = [
  [0, (report, text) => setText(report, "vin", text)],
  [1, ignition],
  [2, distance],
  [3, litres("fuelUsed", "canFuelUsed")],
  [5, reading("rpm", "canRpm")],
  [4, reading("vehicleSpeed", "canSpeed")],
  [6, reading("coolantTemperature", "canCoolantTemperature")],
  [7, consumption],
  [8, level("fuelVolume", "fuel", "canFuelLevel")],
  [9, reading("remainingRange", "canRange", 0.1)],
  [10, reading("throttle", "canAccelerator")],
  [11, reading("engineSeconds", "canEngineHours", 3600)],
  [12, reading("drivingSeconds", "canDrivingHours", 3600)],
  [13, reading("idleSeconds", "canIdleHours", 3600)],
  [14, idleFuel],
  [15, reading("axleWeight2", "canAxleWeight2")],
  [16, textItem("tachographInformation")],
  [17, textItem("indicators")],
  [18, textItem("lights")],
  [19, doors],
  [20, item("vehicleOverspeedHours")],
  [21, item("engineOverspeedHours")],
];

/** Items of GV350M between the doors and the expansion mask. */
const gv350m: readonly (readonly [number, Item])[] = [
  [22, item("impulseDistance")],
  [23, reading("loadWeight", "grossVehicleWeight")],
  [24, level("fuelVolume2", "adBlue", "catalystLiquidLevel")],
];

/** The same of GV350CEU and GV355CEU. */
const gv35ceu: readonly (readonly [number, Item])[] = [
  [23, item("engineColdStarts")],
  [24, item("engineStarts")],
  [25, item("engineStartsByIgnition")],
  [26, item("engineColdHours")],
  [27, item("handBrakeApplications")],
];

/** Items of the expansion mask, one field for each bit. */
const expanded: readonly Item[] = [
  level("fuelVolume2", "adBlue", "adBlueLevel"),
  reading("axleWeight1", "canAxleWeight1"),
  reading("axleWeight3", "canAxleWeight3"),
  reading("axleWeight4", "canAxleWeight4"),
  item("tachographOverspeed"),
  item("tachographMotion"),
  item("tachographDirection"),
  (report, text) => put(report, "analog1", thousandth(text), "canAnalogInput"),
  item("brakingFactor"),
  item("engineBrakingFactor"),
  item("kickDowns"),
  item("effectiveEngineSpeedHours"),
  item("cruiseControlHours"),
  item("kickDownHours"),
  item("brakeApplications"),
  (report, text) => setText(report, "driverId", text),
  (report, text) => setText(report, "driver2Id", text),
  (report, text) => setText(report, "driverName", text),
  textItem("driver2Name"),
  textItem("registration"),
  textItem("expansionInformation"),
  item("rapidBrakings"),
  item("rapidAccelerations"),
  reading("engineTorque", "canEngineTorque"),
  reading("serviceDistance", "canServiceDistance"),
  reading("ambientTemperature", "canAmbientTemperature"),
  item("driver1WorkingTimeMask"),
  item("driver2WorkingTimeMask"),
];

function setText({ readings }: Draft, name: "vin" | "driverId" | "driver2Id" | "driverName", text: string): void {
  readings[name] ??= text;
}

const ceuModel = /^GV35.CEU$/;

/**
 * Reads the items of a report mask that stand from `at` on, and not behind `stop`. Answers the index behind the last
 * one.
 */
export function readCan(
  fields: readonly string[],
  at: number,
  stop: number,
  mask: number,
  report: Draft,
  model: string,
): number {
  const more = model === "GV350M" ? gv350m : ceuModel.test(model) ? gv35ceu : [];
  let next = at;
  for (const list of [items, more])
    for (const [bit, read] of list) {
      if (((mask >>> bit) & 1) === 0 || next >= stop) continue;
      const text = fields[next++] ?? "";
      if (text !== "") read(report, text);
    }
  if (((mask >>> 29) & 1) === 0 || next >= stop) return next;
  const expansion = hexOf(fields[next++]) ?? 0;
  for (const [bit, read] of expanded.entries()) {
    if (((expansion >>> bit) & 1) === 0 || next >= stop) continue;
    // Those two stand behind the rest in GV350CEU and GV355CEU.
    if (bit >= 26 && ceuModel.test(model)) continue;
    const text = fields[next++] ?? "";
    if (text !== "") read(report, text);
  }
  if (((expansion >>> 28) & 1) === 1 && next < stop) {
    const codes = numberOf(fields[next++]);
    if (codes !== undefined) put(report, "dtcCount", codes, "canDtcCount");
  }
  return next;
}
