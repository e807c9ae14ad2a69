import type { Effect } from "../../model/effects.ts";
import { cellsText } from "../../wire/radio.ts";
import { type Draft, draft, fixOf, put, raise, readingsOf } from "../../wire/report.ts";
import { hexOf, numberOf } from "../../wire/text.ts";
import { alerts, emergencies, isDriver } from "./codes.ts";
import { externalPlace, readExternal, unescaped } from "./external.ts";
import { fieldsOf, isId, isMoment, isPlace, keep, momentOf, speedOf } from "./sentence.ts";
import { decoded, type Handler, malformed, type SuntechSession, unnamed } from "./session.ts";
import { readTail } from "./tail.ts";

/** What a type of report holds behind I/O; answers the index of what follows. */
type ReadBody = (report: Draft, fields: readonly string[], at: number) => number;

/**
 * Reports of ST300, ST340, ST500, ST600, SA200 and their kin:
 * `HDR;DEV_ID;[MODEL];SW_VER;DATE;TIME;[CELL];LAT;LON;SPD;CRS;SATT;FIX;DIST;PWR_VOLT;I/O;...`.
 */
function report(readBody: ReadBody): Handler {
  return (frame, session) => {
    const fields = fieldsOf(frame);
    return handleFields(session, fields, fields, readBody);
  };
}

function handleFields(
  session: SuntechSession,
  fields: readonly string[],
  body: readonly string[],
  readBody: ReadBody,
): ReturnType<Handler> {
  const id = fields[1];
  const product = (fields[0] ?? "").slice(0, -3);
  if (!isId(id)) return unnamed(session, malformed);
  return decoded(session, { id, product }, [readReport(product, body, readBody)]);
}

function readReport(product: string, fields: readonly string[], readBody: ReadBody): Effect {
  const gathered = draft();
  // Models that have no MODEL field give the date one field earlier.
  const dateAt = isMoment(fields, 3) ? 3 : 4;
  const time = momentOf(fields, dateAt, gathered);
  if (dateAt === 4) keep(gathered, "model", fields[2]);
  if (fields[dateAt - 1]) gathered.readings.firmware = fields[dateAt - 1] ?? "";
  const latitudeAt = coordinateAt(fields, dateAt + 2);
  const latitude = numberOf(fields[latitudeAt]);
  const longitude = numberOf(fields[latitudeAt + 1]);
  if (time === undefined || latitude === undefined || longitude === undefined) return malformed;
  readCellFields(gathered, fields, dateAt + 2, latitudeAt);
  const ioAt = readVehicle(gathered, product, fields, latitudeAt + 4);
  readTail(gathered, fields, readBody(gathered, fields, ioAt + 1));
  const valid = fields[latitudeAt + 5] === "1";
  const speed = speedOf(fields[latitudeAt + 2]);
  return fixOf({ time, valid, latitude, longitude, speed, course: numberOf(fields[latitudeAt + 3]) }, gathered);
}

/**
 * Index of LAT: at once (ST500), behind the area (ST300, SA200), or behind the whole cell (ST600). Behind all fields:
 * there is none.
 */
function coordinateAt(fields: readonly string[], at: number): number {
  if (isPlace(fields, at)) return at;
  if (isPlace(fields, at + 1)) return at + 1;
  return isPlace(fields, at + 5) ? at + 5 : fields.length;
}

/**
 * CELL is the area in hex with the BSIC in two decimal digits; of ST600 the cell's number, MCC, MNC, LAC in hex, and
 * the RX level.
 */
function readCellFields(gathered: Draft, fields: readonly string[], at: number, end: number): void {
  if (end === at) return;
  const text = fields[at] ?? "";
  if (end === at + 1) {
    const lac = hexOf(text.slice(0, -2));
    if (lac) keep(gathered, "cells", cellsText([{ lac }]));
    return;
  }
  const cellId = hexOf(text);
  const [mcc, mnc] = [numberOf(fields[at + 1]), numberOf(fields[at + 2])];
  const cell = { mcc, mnc, lac: hexOf(fields[at + 3]), cellId, signal: numberOf(fields[at + 4]) };
  if (cellId) keep(gathered, "cells", cellsText([cell]));
}

/** SATT, FIX, DIST, PWR_VOLT, I/O; answers the index of I/O. */
function readVehicle(gathered: Draft, product: string, fields: readonly string[], at: number): number {
  const distance = numberOf(fields[at + 2]);
  put(gathered, "satellites", numberOf(fields[at]), "satt");
  put(gathered, "odometer", distance === undefined ? undefined : distance / 1000, "distance");
  put(gathered, "externalVoltage", numberOf(fields[at + 3]), "powerVoltage");
  readIo(gathered, product, fields[at + 4] ?? "");
  return at + 4;
}

const inputs = ["input1", "input2", "input3", "input4"] as const;
const outputs = ["output1", "output2", "output3"] as const;

/** Ignition, three inputs and two outputs; ST300 with eight characters: four inputs and three outputs (6-1-1). */
function readIo(gathered: Draft, product: string, io: string): void {
  if (io.length < 6 || !/^[01]+$/.test(io)) {
    keep(gathered, "io", io);
    return;
  }
  const wide = io.length === 8 && product.startsWith("ST3");
  gathered.readings.ignition = io[0] === "1";
  for (let index = 0; index < (wide ? 4 : 3); index++)
    gathered.readings[inputs[index] ?? "input1"] = io[index + 1] === "1";
  for (let index = 0; index < (wide ? 3 : 2); index++)
    gathered.readings[outputs[index] ?? "output1"] = io[index + (wide ? 5 : 4)] === "1";
}

/** STT: MODE (1 idle, 2 driving, 4 by distance, 5 by angle), MSG_NUM. */
export const status: Handler = report((gathered, fields, at) => {
  const mode = numberOf(fields[at]);
  if (mode !== undefined) gathered.attributes.mode = mode;
  return at + 2;
});

/** EMG: EMG_ID. */
export const emergency: Handler = report((gathered, fields, at) => {
  const code = numberOf(fields[at]);
  raise(gathered, emergencies.get(code ?? 0) ?? "general");
  if (code !== undefined) gathered.attributes.event = code;
  return at + 1;
});

/** EVT: EVT_ID, which is the input that changed. */
export const event: Handler = report((gathered, fields, at) => {
  const code = numberOf(fields[at]);
  if (code !== undefined) gathered.attributes.event = code;
  return at + 1;
});

/** ALT: ALERT_ID. */
export const alert: Handler = report((gathered, fields, at) => {
  const code = numberOf(fields[at]);
  const alarm = alerts.get(code ?? 0);
  if (alarm !== undefined) raise(gathered, alarm);
  if (code !== undefined) gathered.attributes.event = code;
  return at + 1;
});

/** A report whose data can't be found: what stands in front of it. */
const withoutData: Handler = report((_, fields) => fields.length);

/** UEX: LEN, DATA, CHK_SUM; data may hold any byte. Data whose checksum is wrong is not read. */
export const external: Handler = (frame, session, context) => {
  const place = externalPlace(frame, 0, frame.length);
  if (place?.to === undefined) return withoutData(frame, session, context);
  const data = unescaped(frame.subarray(place.from, place.to));
  const head = fieldsOf(frame.subarray(0, place.length - 1));
  const behind = fieldsOf(frame.subarray(place.to + 1));
  return handleFields(session, head, [...head, ...behind], (gathered, fields, at) => {
    const sum = data.reduce((total, byte) => (total + byte) & 0xff, 0);
    if (hexOf(fields[at]) === sum) readExternal(gathered, data);
    else gathered.attributes.externalDamaged = true;
    return at + 1;
  });
};

/** HTE: a travel that ended (ST300/340 Operation Manual, 6-5-1); DRIVER_ID is the last field. */
export const travel: Handler = (frame, session) => {
  const fields = fieldsOf(frame);
  const id = fields[1];
  if (!isId(id)) return unnamed(session, malformed);
  const gathered = draft();
  const time = momentOf(fields, 4, gathered);
  if (time === undefined) return decoded(session, { id, product: session.product }, [malformed]);
  keep(gathered, "model", fields[2]);
  if (fields[3]) gathered.readings.firmware = fields[3];
  const distance = numberOf(fields[6]);
  put(gathered, "odometer", distance === undefined ? undefined : distance / 1000, "distance");
  put(gathered, "externalVoltage", numberOf(fields[7]), "powerVoltage");
  const minutes = numberOf(fields[8]);
  put(gathered, "engineSeconds", minutes === undefined ? undefined : minutes * 60, "hourMeter");
  put(gathered, "batteryVoltage", numberOf(fields[9]), "backupVoltage");
  if (fields[10] === "0") gathered.attributes.archive = true;
  for (const [index, name] of travelFields.entries()) keep(gathered, name, fields[11 + index]);
  const driver = fields[fields.length - 1];
  if (isDriver(driver) && driver.length >= 8) gathered.readings.driverId = driver;
  else if (driver?.length === 14) gathered.attributes.travelDriver = driver;
  const product = (fields[0] ?? "").slice(0, -3);
  return decoded(session, { id, product }, [readingsOf(gathered, time)]);
};

const travelFields = [
  "travelDistance",
  "travelTime",
  "timeStop",
  "timeMoving",
  "latitudeStart",
  "longitudeStart",
  "latitudeFinish",
  "longitudeFinish",
  "averageSpeed",
  "maximumSpeed",
  "timeOverSpeed",
] as const;
