import type { Effect } from "../../model/effects.ts";
import { draft, fixOf, raise, readingsOf, readingsOrNothing, within } from "../../wire/report.ts";
import { malformed, readPorts } from "./location.ts";
import { isSomewhere, noTime, readPlace, readTime } from "./place.ts";
import { Fields, type Sentence } from "./sentence.ts";
import { keep, keepNumber, putText } from "./values.ts";

/** An emergency's start (EMR) or end (SEM), for the emergency response (AIS-140, table 4C). */
export function readEmergency({ head, body }: Sentence): readonly Effect[] {
  const report = draft();
  const type = head.at(-1) ?? "";
  report.attributes.messageType = type;
  if (type === "EMR") raise(report, "sos");
  const fields = new Fields(body);
  if (fields.next() === "SP") report.attributes.archive = true;
  const time = readTime(report, fields);
  const valid = fields.next() === "A";
  const place = readPlace(fields);
  if (time === noTime || place === undefined) return malformed;
  const altitude = within(report, fields.next(), -1e5, 1e6, "reportedAltitude");
  const speed = within(report, fields.next(), 0, 1e4, "reportedSpeed");
  keepNumber(report, "distance", fields.next());
  keep(report, "provider", fields.next());
  keep(report, "vehicleRegistration", fields.next());
  keep(report, "replyNumber", fields.next());
  if (place === "none") return [readingsOf(report, time)];
  return [fixOf({ time, valid, ...place, altitude, speed }, report)];
}

/** The tracker's health (AIS-140, table 3B); some makers give outputs between the inputs and the analogue ones. */
export function readHealth({ body }: Sentence): readonly Effect[] {
  const report = draft();
  const fields = new Fields(body);
  putText(report, "battery", fields.next(), "batteryPercentage");
  keepNumber(report, "lowBatteryThreshold", fields.next());
  keepNumber(report, "memoryPercentage", fields.next());
  keepNumber(report, "updateRateIgnitionOn", fields.next());
  keepNumber(report, "updateRateIgnitionOff", fields.next());
  if (/^[012]{4}$/.test(fields.peek())) readPorts(report, fields);
  putText(report, "analog1", fields.next(), "analogInput1");
  putText(report, "analog2", fields.next(), "analogInput2");
  return [readingsOrNothing(report, "health without values")];
}

/**
 * What a login of any maker says of the vehicle and the tracker, and the last place that it knew, which has no time.
 */
export function readLogin({ head, body }: Sentence): readonly Effect[] {
  const report = draft();
  const [header = ""] = head;
  const numbered = header === "01";
  const given = head.slice(1);
  keep(report, "vehicleRegistration", (numbered ? body[0] : given.at(-1)) ?? "");
  const vendor = numbered || given.length > 1 ? given[0] : undefined;
  keep(report, "vendor", vendor ?? "");
  const firmware = (numbered ? given[1] : body[0]) ?? "";
  if (firmware !== "" && /^[\x20-\x7e]{1,64}$/.test(firmware)) report.readings.firmware = firmware;
  const at = body.findIndex((text, index) => index > 0 && (text === "N" || text === "S"));
  const place = at < 0 ? undefined : readPlace(new Fields(body, at - 1));
  if (place === undefined || place === "none" || !isSomewhere(place)) return [readingsOrNothing(report, "a login")];
  return [fixOf({ time: undefined, valid: true, ...place }, report)];
}
