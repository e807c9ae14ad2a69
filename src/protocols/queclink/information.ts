import { cellsText } from "../../wire/radio.ts";
import { type Draft, put } from "../../wire/report.ts";
import { hexOf, numberOf } from "../../wire/text.ts";
import { putVolts } from "./events.ts";
import { readAccessPoints } from "./location.ts";
import { isHandheld } from "./models.ts";
import { keep, keepNumber, type Sentence, timeOf } from "./sentence.ts";
import { readAnalog, readInputs, readOutputs, readSignal, readState } from "./status.ts";
import { readPercent } from "./tail.ts";

/** Reads the body of a message without a position. */
export type ReadBody = (sentence: Sentence, report: Draft, model: string) => void;

/**
 * State, SIM card, signal, supply, battery, and behind the time of the last fix what the model has. (GV300, GL300:
 * +RESP:GTINF)
 */
export const readInformation: ReadBody = ({ fields, end }, report, model) => {
  readState(report, fields[4]);
  keepIccid(report, fields[5]);
  readSignal(report, fields[6]);
  readSupply(report, fields[8]);
  // A Bluetooth sensor's address, temperature and humidity stand before the supply's voltage in some models.
  const shift = (fields[10]?.length ?? 0) >= 12 ? 3 : 0;
  if (shift > 0) {
    put(report, "temperature", numberOf(fields[11]), "sensorTemperature");
    put(report, "humidity", numberOf(fields[12]), "sensorHumidity");
  }
  const supply = fields[9 + shift] ?? "";
  if (supply.includes(".")) put(report, "odometer", numberOf(supply), "mileage");
  else putVolts(report, supply);
  const second = numberOf(fields[10 + shift]);
  if (!isHandheld(model) && second !== undefined && second > 100) report.attributes.externalVoltage2 = second / 1000;
  put(report, "batteryVoltage", numberOf(fields[11 + shift]), "backupBatteryVoltage");
  setCharging(report, fields[12 + shift]);
  let fixAt = 13 + shift;
  while (fixAt < end && timeOf(fields[fixAt]) === undefined) fixAt++;
  if (fixAt >= end) return;
  if (isHandheld(model)) {
    readPercent(report, fields[fixAt + 1]);
    put(report, "deviceTemperature", numberOf(fields[fixAt + 3]), "temperatureOfDevice");
  } else readVehicle(fields, fixAt + 1, end, report);
};

/**
 * Pin mask, analogue inputs, digital inputs and outputs, time zone, daylight saving: counted from the end, for the
 * number of analogue inputs differs.
 */
function readVehicle(fields: readonly string[], from: number, end: number, report: Draft): void {
  if (end - from < 7) return;
  for (let index = from + 1; index < end - 4; index++) readAnalog(report, index - from - 1, fields[index]);
  const inputs = fields[end - 4]?.length === 2 ? hexOf(fields[end - 4]) : undefined;
  const outputs = fields[end - 3]?.length === 2 ? hexOf(fields[end - 3]) : undefined;
  if (inputs !== undefined) readInputs(report, inputs);
  if (outputs !== undefined) readOutputs(report, outputs);
  keep(report, "timeZone", fields[end - 2]);
}

function keepIccid({ readings }: Draft, text: string | undefined): void {
  if (text) readings.iccid = text;
}

function readSupply({ readings }: Draft, text: string | undefined): void {
  if (text === "0" || text === "1") readings.powerConnected = text === "1";
}

function setCharging({ readings }: Draft, text: string | undefined): void {
  if (text === "0" || text === "1") readings.charging = text === "1";
}

/** `010A` is version 1.10. */
function versionOf(text: string | undefined): string | undefined {
  if (text === undefined || !/^[0-9A-Fa-f]{4}$/.test(text)) return text;
  return `${Number.parseInt(text.slice(0, 2), 16)}.${Number.parseInt(text.slice(2), 16)}`;
}

/** Device type, firmware, hardware. */
export const readVersion: ReadBody = ({ fields }, report) => {
  keep(report, "deviceType", fields[4]);
  const firmware = versionOf(fields[5]);
  if (firmware) report.readings.firmware = firmware;
  keep(report, "hardware", versionOf(fields[6]));
};

/** Answers to AT+GTRTO, each with a little of +RESP:GTINF. (GL300 1.02, 3.3.2.3) */
export const answers: ReadonlyMap<string, ReadBody> = new Map<string, ReadBody>([
  ["GTCID", ({ fields }, report) => keepIccid(report, fields[4])],
  ["GTCSQ", ({ fields }, report) => readSignal(report, fields[4])],
  ["GTTMZ", ({ fields }, report) => keep(report, "timeZone", fields[4])],
  ["GTBAT", readBattery],
  ["GTIOS", readPins],
]);

/** Supply, its voltage in mV, battery in % (battery trackers), battery in V, charging. */
function readBattery({ fields, end }: Sentence, report: Draft): void {
  readSupply(report, fields[4]);
  putVolts(report, fields[5]);
  readPercent(report, fields[6]);
  put(report, "batteryVoltage", numberOf(fields[7]), "backupBatteryVoltage");
  if (end > 8) setCharging(report, fields[8]);
}

/** Pin mask, analogue inputs, digital inputs and outputs, the last two before the send time. */
function readPins({ fields, end }: Sentence, report: Draft): void {
  for (let index = 5; index < end - 2; index++) readAnalog(report, index - 5, fields[index]);
  const inputs = hexOf(fields[end - 2]);
  const outputs = hexOf(fields[end - 1]);
  if (inputs !== undefined) readInputs(report, inputs);
  if (outputs !== undefined) readOutputs(report, outputs);
}

/** Fields of a cell: country, network, area, cell, signal, a reserved one. */
const cellWidth = 6;

function readCells(fields: readonly string[], from: number, end: number, report: Draft): void {
  const cells = [];
  for (let at = from; at + 4 < end; at += cellWidth) {
    const lac = hexOf(fields[at + 2]);
    const cellId = hexOf(fields[at + 3]);
    const mcc = numberOf(fields[at]);
    if (mcc === undefined || cellId === undefined) continue;
    cells.push({ mcc, mnc: numberOf(fields[at + 1]), lac, cellId, signal: numberOf(fields[at + 4]) });
  }
  // Six neighbours stand before the serving cell, which is to come first.
  const serving = end - from >= 7 * cellWidth ? cells.pop() : undefined;
  keep(report, "cells", cellsText(serving === undefined ? cells : [serving, ...cells]));
}

/**
 * Neighbouring cells and the serving one; in place of the device name stands what was to be located. (GL300 1.02,
 * +RESP:GTGSM)
 */
export const readGsm: ReadBody = ({ fields, end }, report) => {
  keep(report, "fixType", fields[3]);
  readCells(fields, 4, end, report);
};

/** Trigger, report type, battery, motion, expansion mask, cells. (GL500M, +RESP:GTLBS) */
export const readLbs: ReadBody = ({ fields, end }, report) => {
  keep(report, "triggerType", fields[4]);
  readPercent(report, fields[6]);
  readCells(fields, 12, end, report);
};

/** Access points, five fields each, and the battery last. (GL200 CDMA, +RESP:GTWIF) */
export const readWifi: ReadBody = ({ fields, end }, report) => {
  const count = numberOf(fields[4]) ?? 0;
  if (Number.isInteger(count) && count > 0) readAccessPoints(report, fields, 5, Math.min(count, 32), 5);
  readPercent(report, fields[end - 1]);
};

/**
 * What came over the serial port: type, length and data, in hexadecimal digits. A fuel sensor's line `COMB` holds the
 * level in its third item.
 */
export const readData: ReadBody = ({ fields, end }, report) => {
  const data = fields[end - 1] ?? "";
  const text = /^(?:[0-9A-Fa-f]{2})+$/.test(data) ? new TextDecoder().decode(Uint8Array.fromHex(data)) : data;
  const [line = ""] = /COMB[^\r\n]*/.exec(text) ?? [];
  keep(report, "data", text);
  if (line !== "") keepNumber(report, "combFuel", line.split(",")[2]);
};
