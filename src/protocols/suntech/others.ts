import type { Effect } from "../../model/effects.ts";
import { type Cell, cellsText } from "../../wire/radio.ts";
import { type Draft, draft, fixOf, put, raise, readingsOf } from "../../wire/report.ts";
import { numberOf } from "../../wire/text.ts";
import { alerts } from "./codes.ts";
import { fieldsOf, headerOf, headOf, isId, isMoment, isPlace, keep, momentOf, speedOf } from "./sentence.ts";
import { decoded, type Handler, malformed, unnamed } from "./session.ts";
import { readCell } from "./tail.ts";

const cellCount = 7;

/**
 * ST4xx, battery trackers: seven cells first, then BCK_VOLT, MSG_TYPE, MSG_NUM, MODE or ALERT_ID, and a position where
 * there is one.
 */
export const batteryTracker: Handler = (frame, session) => {
  const fields = fieldsOf(frame);
  const id = fields[1];
  const header = headerOf(headOf(frame));
  if (header === undefined || !isId(id)) return unnamed(session, malformed);
  return decoded(session, { id, product: header.product }, [readBatteryTracker(header.type, fields)]);
};

function readBatteryTracker(type: string, fields: readonly string[]): Effect {
  const gathered = draft();
  if (fields[2]) gathered.readings.firmware = fields[2];
  keep(gathered, "model", fields[3]);
  // Newer models say in a field of their own what network they are in.
  const cellsAt = /^[2-7]\d\d$/.test(fields[5] ?? "") || fields[5] === "0" ? 4 : 5;
  const at = readCells(gathered, fields, cellsAt);
  put(gathered, "batteryVoltage", numberOf(fields[at]), "backupVoltage");
  if (fields[at + 1] === "0") gathered.attributes.archive = true;
  const code = numberOf(fields[at + 3]);
  if (code !== undefined) gathered.attributes[type === "STT" ? "mode" : "event"] = code;
  const alarm = type === "ALT" ? alerts.get(code ?? 0) : undefined;
  if (alarm !== undefined) raise(gathered, alarm);
  let date = at + 4;
  while (date < fields.length && !isMoment(fields, date)) date++;
  keep(
    gathered,
    "extra",
    fields
      .slice(at + 4, date)
      .join(";")
      .replace(/;+$/, ""),
  );
  return date < fields.length ? readPlace(gathered, fields, date) : readingsOf(gathered);
}

/**
 * Puts the cells; answers the index behind them. The serving one gives its level before its area, the others behind.
 */
function readCells(gathered: Draft, fields: readonly string[], from: number): number {
  const cells: Cell[] = [];
  for (let index = 0; index < cellCount; index++) {
    const at = from + index * 6;
    const [cellId, mcc, mnc, first, second] = fields.slice(at, at + 5).map((text) => numberOf(text));
    const [signal, lac] = index === 0 ? [first, second] : [second, first];
    if (cellId !== undefined && cellId > 0) cells.push({ mcc, mnc, lac, cellId, signal });
  }
  keep(gathered, "cells", cellsText(cells));
  return from + cellCount * 6;
}

function readPlace(gathered: Draft, fields: readonly string[], at: number): Effect {
  const time = momentOf(fields, at, gathered);
  const [latitude, longitude, , course, satellites] = fields.slice(at + 2, at + 7).map((text) => numberOf(text));
  const speed = speedOf(fields[at + 4]);
  if (time === undefined || latitude === undefined || longitude === undefined) return malformed;
  put(gathered, "satellites", satellites, "satt");
  const valid = fields[at + 7] === "1";
  return fixOf({ time, valid, latitude, longitude, speed, course }, gathered);
}

/** ST910 and ST9xx: `ST910;Location;DEV_ID;[SW_VER];DATE;TIME;[CELL];LAT;LON;SPD;CRS;FIX;...`. */
function personalTracker(isAlarm: boolean): Handler {
  return (frame, session) => {
    const fields = fieldsOf(frame);
    const [product = "", , id] = fields;
    if (!isId(id)) return unnamed(session, malformed);
    return decoded(session, { id, product }, [readPersonal(fields, isAlarm)]);
  };
}

function readPersonal(fields: readonly string[], isAlarm: boolean): Effect {
  const gathered = draft();
  const at = isMoment(fields, 3) ? 3 : 4;
  if (at === 4 && fields[3]) gathered.readings.firmware = fields[3];
  const time = momentOf(fields, at, gathered);
  const place = isPlace(fields, at + 2) ? at + 2 : at + 3;
  const [latitude, longitude, , course] = fields.slice(place, place + 4).map((text) => numberOf(text));
  const speed = speedOf(fields[place + 2]);
  if (!isPlace(fields, place) || time === undefined || latitude === undefined || longitude === undefined)
    return malformed;
  if (isAlarm) raise(gathered, "general");
  readPersonalTail(gathered, fields.slice(place + 5));
  return fixOf({ time, valid: fields[place + 4] === "1", latitude, longitude, speed, course }, gathered);
}

/** DIST and the charge, or the battery's voltage; then codes of the model, and the cell. */
function readPersonalTail(gathered: Draft, fields: readonly string[]): void {
  const distance = numberOf(fields[0]);
  const hasVoltage = fields[0]?.includes(".") === true;
  if (hasVoltage) put(gathered, "batteryVoltage", distance, "backupVoltage");
  else put(gathered, "odometer", distance === undefined ? undefined : distance / 1000, "distance");
  const cell = fields.findIndex((text, index) => text.length === 10 && /^[2-7]\d\d$/.test(fields[index + 1] ?? ""));
  if (cell > 0) readCell(gathered, fields, cell);
  const rest = cell > 0 ? [...fields.slice(1, cell), ...fields.slice(cell + 6)] : fields.slice(1);
  keep(gathered, "extra", rest.join(";"));
}

/** Location: a position that the tracker reports by itself. */
export const location: Handler = personalTracker(false);
/** Emergency and Alert. */
export const personalAlarm: Handler = personalTracker(true);
