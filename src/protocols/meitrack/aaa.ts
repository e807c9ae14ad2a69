import type { Effect } from "../../model/effects.ts";
import { cellsText, putCsq } from "../../wire/radio.ts";
import { latin1Of } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put, reportedTime } from "../../wire/report.ts";
import { hexOf, numberOf } from "../../wire/text.ts";
import type { Read } from "./envelope.ts";
import { cardRead, putEvent } from "./events.ts";
import { putInputs, putOutputs, putTemperature, putVoltages } from "./ports.ts";

/** Index of the first field behind the event code. */
const latitudeAt = 1;

function keep(report: Draft, name: string, text: string | undefined): void {
  if (text !== undefined && text !== "") report.attributes[name] = text;
}

/** AAA, automatic event report: one position (GPRS Protocol, 1.2). */
export const readAaa: Read = (frame, envelope, context) => {
  const all = latin1Of(frame.subarray(envelope.from, envelope.to)).split(",");
  // Some models put another number before the event code.
  const fields = all[latitudeAt]?.includes(".") === true ? all : all.slice(1);
  return [readFields(fields, context.options.model)];
};

function readFields(fields: readonly string[], model: string | undefined): Effect {
  const report = draft();
  const event = numberOf(fields[0]);
  if (event !== undefined) putEvent(report, event);
  const latitude = numberOf(fields[1]);
  const longitude = numberOf(fields[2]);
  const time = reportedTime(report, fields[3] ?? "");
  if (time === undefined || latitude === undefined || longitude === undefined)
    return { type: "failure", cause: "malformed" };
  put(report, "satellites", numberOf(fields[5]), "satelliteCount");
  const signal = numberOf(fields[6]);
  if (signal !== undefined) putCsq(report, "rssi", signal, "gsmSignal");
  put(report, "hdop", numberOf(fields[9]), "positioningAccuracy");
  const mileage = numberOf(fields[11]);
  put(report, "odometer", mileage === undefined ? undefined : mileage / 1000, "mileage");
  const runTime = numberOf(fields[12]);
  if (runTime !== undefined) report.attributes.runTime = runTime;
  readCell(report, fields[13] ?? "", numberOf(fields[6]));
  readPorts(report, fields[14] ?? "");
  readAnalog(report, fields[15] ?? "", model);
  readRest(report, event, fields);
  return fixOf(
    {
      time,
      valid: fields[4] === "A",
      latitude,
      longitude,
      altitude: boundedOf(fields[10], -1e5, 1e6),
      speed: boundedOf(fields[7], 0, 1e4),
      course: numberOf(fields[8]),
    },
    report,
  );
}

function boundedOf(text: string | undefined, least: number, most: number): number | undefined {
  const value = numberOf(text);
  return value !== undefined && value >= least && value <= most ? value : undefined;
}

/** `MCC|MNC|LAC|CI`, the last two in hex. */
function readCell(report: Draft, text: string, signal: number | undefined): void {
  const [country, network, area, cell] = text.split("|");
  const [mcc, mnc, lac, cellId] = [numberOf(country), numberOf(network), hexOf(area), hexOf(cell)];
  if (mcc && cellId !== undefined) keep(report, "cells", cellsText([{ mcc, mnc, lac, cellId, signal }]));
}

/** Four hex digits: inputs, outputs. */
function readPorts(report: Draft, text: string): void {
  const value = text.length === 4 ? hexOf(text) : undefined;
  if (value === undefined) {
    keep(report, "ioStatus", text);
    return;
  }
  putInputs(report, value >> 8);
  putOutputs(report, value & 0xff);
}

/**
 * AD1 to AD3 in hex, then battery and supply; of newer models decimal volts of battery and supply, then of parts of the
 * tracker.
 */
function readAnalog(report: Draft, text: string, model: string | undefined): void {
  const parts = text.split("|");
  if (text.includes(".")) {
    put(report, "batteryVoltage", numberOf(parts[0]), "batteryVolts");
    put(report, "externalVoltage", numberOf(parts[1]), "externalVolts");
    return;
  }
  for (let index = 0; index < 3; index++) {
    const value = hexOf(parts[index]);
    if (value !== undefined) report.attributes[`ad${index + 1}`] = value;
  }
  putVoltages(report, hexOf(parts[3]), hexOf(parts[4]), model);
}

/**
 * Behind the analog inputs: what the event is about, customized data, protocol version, fuel, probes, and what the
 * version adds.
 */
function readRest(report: Draft, event: number | undefined, fields: readonly string[]): void {
  const [data = "", custom, version, fuel = "", probes = ""] = fields.slice(16, 21);
  if (event === cardRead && data !== "") report.readings.driverId = data;
  else keep(report, "eventData", data);
  keep(report, "customData", custom);
  const protocol = numberOf(version) ?? 0;
  // Two bytes: whole and hundredths of a percent.
  if (/^[0-9A-F]{4}$/i.test(fuel)) {
    const [whole = 0, part = 0] = [hexOf(fuel.slice(0, 2)), hexOf(fuel.slice(2))];
    put(report, "fuel", Math.round(whole * 100 + part) / 100, "fuelPercentage");
  }
  for (const probe of probes.split("|")) if (/^[0-9A-F]{6}$/i.test(probe)) readProbe(report, protocol, probe);
  readAdded(report, fields.slice(21));
}

/** A probe's number and its temperature: since version 3 hundredths, before whole degrees and hundredths. */
function readProbe(report: Draft, protocol: number, text: string): void {
  const raw = Number.parseInt(text.slice(2), 16);
  const signed = raw > 0x7fff ? raw - 0x10000 : raw;
  const whole = signed >> 8;
  const older = whole + (whole < 0 ? -1 : 1) * (raw & 0xff) * 0.01;
  putTemperature(
    report,
    Number.parseInt(text.slice(0, 2), 16),
    Math.round((protocol >= 3 ? signed / 100 : older) * 100) / 100,
  );
}

/** A count and as many fields, the sixth of which is a taximeter's; or the greatest acceleration and deceleration. */
function readAdded(report: Draft, fields: readonly string[]): void {
  const count = numberOf(fields[0]);
  if (count === undefined) return;
  if (count > 0 && count === fields.length - 1) {
    keep(report, "probeData", fields[2]);
    readTaximeter(report, fields[6] ?? "");
    return;
  }
  report.attributes.maximumAcceleration = count;
  const deceleration = numberOf(fields[1]);
  if (deceleration !== undefined) report.attributes.maximumDeceleration = deceleration;
}

/** `10|start`, or `11|start|end|distance|fare|trip|wait`: times as yymmddHHMMSS. */
function readTaximeter(report: Draft, text: string): void {
  const [state = "", start, end, distance, fare, trip, wait] = text.split("|");
  if (!/^\d\d$/.test(state)) return;
  report.attributes.taximeterOn = state[1] === "0";
  keep(report, "taximeterStart", start);
  keep(report, "taximeterEnd", end);
  keep(report, "taximeterDistance", distance);
  keep(report, "taximeterFare", fare);
  keep(report, "taximeterTrip", trip);
  keep(report, "taximeterWait", wait);
}
