import type { Effect } from "../../model/effects.ts";
import { type Cell, cellsText } from "../../wire/radio.ts";
import { bit } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put } from "../../wire/report.ts";
import { roundDegrees } from "../../wire/units.ts";

/** One position of a message while it is read. */
export interface PositionRecord {
  readonly report: Draft;
  readonly cell: { -readonly [K in keyof Cell]: Cell[K] };
  valid: boolean;
  altitude?: number;
}

/** A position of which nothing was read yet. */
export function newRecord(): PositionRecord {
  return { report: draft(), cell: {}, valid: true };
}

/**
 * What every position has, in the field's units: ms, degrees, km, km/h, V, °C. What was not given is undefined.
 * (Protocol Document, 2.2)
 */
export interface Base {
  readonly fixTime: number;
  /** The tracker's clock when it reported. */
  readonly clock: number | undefined;
  readonly longitude: number;
  readonly latitude: number;
  readonly heading: number | undefined;
  readonly event: number | undefined;
  readonly odometer: number | undefined;
  readonly hdop: number | undefined;
  readonly inputs: number | undefined;
  readonly speed: number | undefined;
  readonly outputs: number | undefined;
  readonly analog: number | undefined;
  readonly driver: string;
  readonly temperature: number | undefined;
  readonly temperature2: number | undefined;
  readonly message: string;
}

/** A place older than this is not that of the report, ms. */
const staleMs = 10_000;
/** What stands for a temperature without a sensor. */
const noSensor = 200;

/** Puts what a position has beside its place. */
export function putBase({ report }: PositionRecord, base: Base): void {
  const { clock, fixTime, event, driver } = base;
  if (event !== undefined) report.attributes.event = event;
  if (clock !== undefined && fixTime > 0 && clock - fixTime > staleMs)
    report.attributes.fixAge = (clock - fixTime) / 1000;
  put(report, "odometer", base.odometer, "gpsOdometer");
  put(report, "hdop", base.hdop, "gpsHdop");
  put(report, "analog1", base.analog, "analogInput");
  if (base.temperature !== noSensor) put(report, "temperature", base.temperature, "firstTemperature");
  if (base.temperature2 !== noSensor) put(report, "temperature2", base.temperature2, "secondTemperature");
  if (base.inputs !== undefined) putInputs(report, base.inputs);
  if (base.outputs !== undefined) putOutputs(report, base.outputs);
  if (driver !== "" && driver !== "0") report.readings.driverId = driver;
  putMessage(report, base.message);
}

/** The fix of a record whose fields were all put. */
export function effectOf({ report, cell, valid, altitude }: PositionRecord, base: Base): Effect {
  const { fixTime: time, speed, heading: course } = base;
  const cells = cell.cellId ? cellsText([cell]) : undefined;
  if (cells !== undefined) report.attributes.cells = cells;
  const latitude = roundDegrees(base.latitude) + 0;
  const longitude = roundDegrees(base.longitude) + 0;
  return fixOf({ time, valid, latitude, longitude, altitude, speed, course }, report);
}

const inputs = ["ignition", "input1", "input2", "input3", "input4", "input5", "input6", "input7"] as const;
const outputs = ["output1", "output2", "output3", "output4", "output5", "output6", "output7", "output8"] as const;
/** Ports that every model has; a higher one is given where it is set. */
const usualInputs = 4;
const usualOutputs = 2;

/** Bit 0 is the ignition. */
function putInputs({ readings }: Draft, bits: number): void {
  for (let index = 0; index < inputs.length; index++)
    if (index < usualInputs || bit(bits, index)) readings[inputs[index] ?? "ignition"] = bit(bits, index);
}

function putOutputs({ readings }: Draft, bits: number): void {
  for (let index = 0; index < outputs.length; index++)
    if (index < usualOutputs || bit(bits, index)) readings[outputs[index] ?? "output1"] = bit(bits, index);
}

/** What a device at the serial port said; of a fuel sensor frequency, temperature and level in hex. */
function putMessage(report: Draft, message: string): void {
  if (message === "") return;
  report.attributes.message = message;
  if (!message.startsWith("FULS:")) return;
  const [, temperature, level] = /t=([0-9A-F]{1,4}) N=([0-9A-F]{1,4})/i.exec(message) ?? [];
  if (temperature === undefined || level === undefined) return;
  const degrees = Number.parseInt(temperature, 16);
  // Two digits are a signed byte.
  put(
    report,
    "fuelTemperature",
    degrees > 0x7f && degrees <= 0xff ? degrees - 0x100 : degrees,
    "fuelSensorTemperature",
  );
  put(report, "fuel", Number.parseInt(level, 16) / 10, "fuelSensorLevel");
}
