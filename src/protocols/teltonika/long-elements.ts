import { latin1Of, Reader } from "../../wire/reader.ts";
import { beaconList, sensorList } from "./beacons.ts";
import { type Family, type Sink, unknownName } from "./elements.ts";
import { professional } from "./tables.ts";

/** Takes an element of 8 bytes, or of variable length, to where it belongs. */
type Take = (bytes: Uint8Array, sink: Sink) => void;

/** An iButton's or card's 64-bit number as 16 hex digits; 0: none is there. */
const driver: Take = (bytes, sink) => {
  const id = bytes.toHex().toUpperCase();
  if (id !== "0000000000000000") sink.readings.driverId ??= id;
};

const hex =
  (name: string): Take =>
  (bytes, sink) => {
    sink.attributes[name] = bytes.toHex();
  };

const text =
  (name: string): Take =>
  (bytes, sink) => {
    const value = printable(bytes);
    if (value === undefined) sink.attributes[name] = bytes.toHex();
    else if (value !== "") sink.attributes[name] = value;
  };

/** A text that is sent in parts, as elements one after the other. */
const part =
  (name: "vin" | "iccid"): Take =>
  (bytes, sink) => {
    const value = printable(bytes);
    if (value) sink.readings[name] = (sink.readings[name] ?? "") + value;
  };

/** The last character of the tachograph's VIN is an element of one byte, which comes before the others. */
const vinMiddle: Take = (bytes, sink) => {
  part("vin")(bytes, sink);
  const last = sink.attributes.vehicleIdentificationNumberPart3;
  if (sink.readings.vin !== undefined && typeof last === "number" && last > 0x20 && last < 0x7f)
    sink.readings.vin += String.fromCharCode(last);
};

const driverName: Take = (bytes, sink) => {
  const value = printable(bytes);
  if (value) sink.readings.driverName = value;
};

const vin: Take = (bytes, sink) => {
  const value = printable(bytes);
  if (value) sink.readings.vin ??= value;
};

/**
 * FMB sends the ICCID as two decimal numbers. Zeros that lead the second are lost, so only a whole one (19 or 20
 * digits) is put together.
 */
const iccidHigh: Take = (bytes, sink) => {
  sink.iccidHigh = decimal(bytes);
};
const iccidLow: Take = (bytes, sink) => {
  const low = decimal(bytes);
  const whole = (sink.iccidHigh ?? "") + low;
  if (whole.length === 19 || whole.length === 20) {
    sink.readings.iccid = whole;
    sink.iccidHigh = undefined;
  } else sink.attributes.iccid2 = low;
};

const eightCommon: { readonly [id: number]: Take } = {
  78: driver,
  207: driver,
  258: hex("ecoMaximum"),
  259: hex("ecoAverage"),
};

const fmbEight: { readonly [id: number]: Take } = {
  ...eightCommon,
  8: hex("authorizedIButton"),
  11: iccidHigh,
  14: iccidLow,
  71: hex("dallasTemperatureId4"),
  76: hex("dallasTemperatureId1"),
  77: hex("dallasTemperatureId2"),
  79: hex("dallasTemperatureId3"),
  101: hex("moduleId"),
  124: hex("agriculturalMachineryFlags"),
  132: hex("securityStateFlags"),
  147: text("driver1IdHigh"),
  148: text("driver1IdLow"),
  149: text("driver2IdHigh"),
  150: text("driver2IdLow"),
  238: hex("userId"),
  451: hex("bleRfid1"),
  452: hex("bleRfid2"),
  453: hex("bleRfid3"),
  454: hex("bleRfid4"),
  517: hex("securityStateFlagsP4"),
  518: hex("controlStateFlagsP4"),
  519: hex("indicatorStateFlagsP4"),
};

const professionalEight: { readonly [id: number]: Take } = {
  ...eightCommon,
  5: hex("dallasTemperatureId5"),
  7: hex("dallasTemperatureId6"),
  13: hex("moduleId"),
  39: hex("agriculturalMachineryFlags"),
  47: hex("securityStateFlags"),
  62: hex("dallasTemperatureId1"),
  63: hex("dallasTemperatureId2"),
  64: hex("dallasTemperatureId3"),
  65: hex("dallasTemperatureId4"),
  195: text("driver1IdMsb"),
  196: text("driver1IdLsb"),
  197: text("driver2IdMsb"),
  198: text("driver2IdLsb"),
  217: driver,
  219: part("iccid"),
  220: part("iccid"),
  221: part("iccid"),
  231: text("vehicleRegistrationNumber1"),
  232: text("vehicleRegistrationNumber2"),
  233: part("vin"),
  234: vinMiddle,
};

const variable: { readonly [id: number]: Take } = {
  256: vin,
  325: vin,
  264: text("barcodeId"),
  281: text("faultCodes"),
  387: text("iso6709Coordinates"),
  403: driverName,
  257: hex("crashTraceData"),
  282: hex("dtcFaultCodes"),
  388: hex("moduleId17"),
  385: beaconList,
  548: sensorList,
  11317: sensorList,
};

/** An element of 8 bytes. */
export function putEight(id: number, bytes: Uint8Array, tables: Family, sink: Sink): void {
  const take = (tables === professional ? professionalEight : fmbEight)[id];
  if (take !== undefined) take(bytes, sink);
  else {
    const value = new Reader(bytes).u64Exact();
    sink.attributes[unknownName(id)] = value <= Number.MAX_SAFE_INTEGER ? Number(value) : value.toString();
  }
}

/** An element of variable length (Codec 8 Extended). */
export function putVariable(id: number, bytes: Uint8Array, sink: Sink): void {
  const take = variable[id];
  if (take !== undefined) take(bytes, sink);
  else sink.attributes[unknownName(id)] = bytes.toHex();
}

function decimal(bytes: Uint8Array): string {
  return new Reader(bytes).u64Exact().toString();
}

/** Text without the zero bytes and spaces that fill it up; undefined where a byte is no printable ASCII. */
function printable(bytes: Uint8Array): string | undefined {
  let end = bytes.length;
  while (end > 0 && (bytes[end - 1] === 0 || bytes[end - 1] === 0x20)) end--;
  const value = bytes.subarray(0, end);
  return value.every((byte) => byte >= 0x20 && byte < 0x7f) ? latin1Of(value).trim() : undefined;
}
