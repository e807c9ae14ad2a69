import { type Cell, cellsText } from "../../wire/radio.ts";
import { type Draft, draft, fixOf, put, raise, within } from "../../wire/report.ts";
import { mismatch, numberOf } from "../../wire/text.ts";
import { answer } from "./reports.ts";
import { sentenceOf } from "./sentence.ts";
import { decoded, type Handler, imeiOf, malformed, reply } from "./session.ts";
import { eitherLatitude, eitherLongitude, timeOf, wholeOf } from "./values.ts";

/** Fields of P45 up to its serial number. */
const leastFields = 15;

/** What a source of events says: an unlocking that was allowed or not, a card that is not allowed, the lock closed. */
function readSource(source: number, verification: number | undefined, password: string, report: Draft): void {
  const { readings } = report;
  // With a card or a changing password: the fence within which it was opened, 98 without fences, 99 outside of all.
  const fenced = source === 1 || source === 6;
  const allowed = fenced
    ? verification !== undefined && verification > 0 && verification !== 99
    : source === 4
      ? password === "1"
      : verification === 1;
  if (fenced || source === 4 || source === 7) {
    raise(report, allowed ? "unlock" : "tampering");
    if (allowed) readings.locked = false;
  } else if (source === 2) raise(report, "tampering");
  else if (source === 5) {
    raise(report, "lock");
    readings.locked = true;
  }
}

/** `mcc:mnc:lac:cell`. */
function readStation(text: string, report: Draft): void {
  const [mcc, mnc, lac, cellId, ...more] = text.split(":").map(wholeOf);
  const cell: Cell = { mcc, mnc, lac, cellId };
  const known = mcc !== undefined && mnc !== undefined && lac !== undefined && cellId !== undefined;
  const cells = known && more.length === 0 ? cellsText([cell]) : undefined;
  if (cells === undefined) report.attributes.baseStation = text;
  else report.attributes.cells = cells;
}

/**
 * P45: date, time, latitude, longitude, fix, km/h, course, source, verification, card, password right, wrong passwords
 * in a row, serial number; then mileage in km, and, where the lock is set so, IMEI, fence, base station.
 */
export const lockEvent: Handler = (frame, session, context) => {
  const sentence = sentenceOf(frame);
  if (sentence === undefined) return { session, effects: [malformed] };
  const { id, fields } = sentence;
  if (fields.length < leastFields) return answer(frame, session, context);
  const report = draft();
  const { attributes } = report;
  const time = timeOf(fields[0] ?? "", fields[1] ?? "", report);
  const latitude = eitherLatitude.read(fields, 2);
  const longitude = eitherLongitude.read(fields, 4);
  if (time === mismatch || latitude === mismatch || longitude === mismatch) return { session, effects: [malformed] };
  const speed = within(report, fields[7], 0, 10_000, "speed");
  const course = within(report, fields[8], 0, 360, "course");
  const [source, verification, , , wrong] = fields.slice(9, 14).map(wholeOf);
  attributes.event = source ?? fields[9] ?? "";
  if (source !== undefined) readSource(source, verification, fields[12] ?? "", report);
  if (verification !== undefined) attributes.unlockVerification = verification;
  const card = fields[11] ?? "";
  if (!/^0*$/.test(card)) report.readings.driverId = card;
  if (wrong !== undefined && wrong > 0) attributes.wrongPasswords = wrong;
  put(report, "odometer", numberOf(fields[15]), "mileage");
  const fence = wholeOf(fields[17]);
  if (fence !== undefined && fence > 0) attributes.geofenceId = fence;
  if (fields[18]) readStation(fields[18], report);
  if (fields.length > 19) attributes.extra = fields.slice(19).join(",");
  const fix = fixOf({ time, valid: fields[6] === "A", latitude, longitude, speed, course }, report);
  const serial = fields[14] ?? "";
  const confirmed = /^\d{1,5}$/.test(serial) ? [reply(`P69,0,${serial}`, "stored")] : [];
  return decoded(session, id, [fix, ...confirmed], imeiOf(fields[16] ?? ""));
};
