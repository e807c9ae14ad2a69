import { type Draft, draft, fixOf, put, reportedTime } from "../../wire/report.ts";
import { numberOf } from "../../wire/text.ts";
import type { Read } from "./sentence.ts";
import { malformed } from "./values.ts";

/** Time, longitude and latitude in degrees: what RFID and OBD strings begin with. */
function placeOf(fields: readonly string[], report: Draft) {
  const time = reportedTime(report, fields[0] ?? "");
  const longitude = numberOf(fields[1]);
  const latitude = numberOf(fields[2]);
  if (time === undefined || longitude === undefined || latitude === undefined) return undefined;
  return { time, valid: true, latitude, longitude };
}

/** The body's fields, without the bar before the checksum. */
function fieldsOf(body: string): string[] {
  return (body.endsWith("|") ? body.slice(0, -1) : body).split(",");
}

/** E2: time, longitude, latitude, and what was read of the card or key (AT09, 2.3.1). */
export const readRfid: Read = ({ kind, body }) => {
  const report = draft();
  const fields = fieldsOf(body);
  const position = placeOf(fields, report);
  if (position === undefined) return malformed;
  report.attributes.event = kind;
  const driver = fields.slice(3).join(",").trim();
  if (driver !== "") report.readings.driverId = driver;
  return [fixOf(position, report)];
};

/** What an OBD string has behind the place, in its order: the reading, and what its unit is divided by. */
const obd = [
  ["odometer", 1000, "vehicleMileage"],
  ["fuelUsed", 1, "totalFuel"],
  ["fuelConsumption", 1, "averageFuel"],
  ["externalVoltage", 1000, "vehicleVoltage"],
  ["rpm", 1, "engineSpeed"],
  ["vehicleSpeed", 1, "obdSpeed"],
  ["airFlow", 1, "intakeFlow"],
  ["intakePressure", 1, "manifoldPressure"],
  ["coolantTemperature", 1, "coolant"],
  ["intakeTemperature", 1, "intakeAir"],
  ["engineLoad", 1, "load"],
  ["throttle", 1, "throttlePosition"],
  ["fuel", 1, "fuelLevel"],
] as const;

/** E5: time, longitude, latitude, version of the OBD part, and the values of `obd` (AT07). */
export const readObd: Read = ({ kind, body }) => {
  const report = draft();
  const fields = fieldsOf(body);
  const position = placeOf(fields, report);
  if (position === undefined) return malformed;
  report.attributes.event = kind;
  if (fields[3]) report.attributes.obdVersion = fields[3];
  for (const [index, [name, divisor, manualName]] of obd.entries()) {
    const value = numberOf(fields[4 + index]);
    put(report, name, value === undefined ? undefined : value / divisor, manualName);
  }
  return [fixOf(position, report)];
};

/** BB: only the identifier (AT09, 2.4). */
export const readHeartbeat: Read = () => [{ type: "ignored", reason: "heartbeat" }];

/** CF: what the tracker says to a command. */
export const readAnswer: Read = ({ body }) => [
  { type: "commandResult", text: body.endsWith("|") ? body.slice(0, -1) : body },
];
