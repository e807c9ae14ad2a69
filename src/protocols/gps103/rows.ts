import type { Effect } from "../../model/effects.ts";
import type { MessageRow } from "../../wire/protocol.ts";
import { cellsText } from "../../wire/radio.ts";
import { latin1Of } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put, readingsOf, readingsOrNothing } from "../../wire/report.ts";
import { numberOf, percentOf } from "../../wire/text.ts";
import { ends } from "./framer.ts";
import { commandOf, readKeyword, readMotion } from "./keywords.ts";
import { clockDigits, clockTime, positionTime, readPlace } from "./position.ts";
import { decoded, type Gps103Session, type Handler, imeiOf, malformed, reply } from "./session.ts";

/** Fields of a message without its end mark. */
function fieldsOf(frame: Uint8Array): readonly string[] {
  let end = frame.length;
  while (end > 0 && ends(frame[end - 1] ?? 0)) end--;
  return latin1Of(frame.subarray(0, end)).split(",");
}

/** `##,imei:490154203237518,A`, and of some firmware `imei:490154203237518,A` (GPRS Protocol, 1). */
const login: Handler = (frame, session) => {
  const id = fieldsOf(frame)
    .map(imeiOf)
    .find((each) => each !== undefined);
  return id === undefined ? { session, effects: [malformed] } : decoded(session, id, [reply("LOAD", "identified")]);
};

/** `490154203237518`, each minute or so; a report may follow without a mark between them (GPRS Protocol, 2). */
const heartbeat: Handler = (frame, session, context) => {
  const text = latin1Of(frame);
  const at = text.indexOf("imei:");
  const id = /^\d{10,17}/.exec(text)?.[0];
  if (id === undefined) return { session, effects: [malformed] };
  const on = reply("ON", "identified");
  if (at < 0) return decoded(session, id, [on]);
  const { session: next, effects } = report(frame.subarray(at), session, context);
  return { session: next, effects: [...effects, on] };
};

/**
 * `imei:...,keyword,local time,phone,F,UTC time,A,latitude,N,longitude,E,speed,course,altitude,...` (GPRS Protocol, 4).
 */
const report: Handler = (frame, session) => {
  const fields = fieldsOf(frame);
  const id = imeiOf(fields[0]);
  if (id === undefined) return { session, effects: [malformed] };
  const keyword = fields[1] ?? "";
  const content = draft();
  readKeyword(keyword, content);
  readSecond(keyword, fields[3] ?? "", content);
  const { effect, offset } = fields[4] === "F" ? located(fields, content) : unlocated(fields, content);
  if (effect === malformed) return { session, effects: [malformed] };
  const effects: Effect[] = [effect];
  const command = commandOf(keyword);
  if (command !== undefined) effects.push({ type: "commandResult", text: keyword, to: command });
  // Without the answer E, the tracker repeats its SOS every three minutes.
  if (keyword === "help me") effects.push(reply(`**,imei:${id},E;`, "stored"));
  return decoded(session, id, effects, offset);
};

/**
 * The field behind the time: the number of a card, the charge of the battery, or the telephone that the tracker reports
 * to.
 */
function readSecond(keyword: string, text: string, { readings, attributes }: Draft): void {
  if (text === "" || text === "0") return;
  if (keyword === "rfid") readings.driverId = text;
  else if (/^\d{1,3}%$/.test(text) && Number.parseInt(text, 10) <= 100) readings.battery = Number.parseInt(text, 10);
  else attributes[/^\+?[\d ]{5,20}$/.test(text) ? "phone" : "extra"] = text;
}

interface Located {
  readonly effect: Effect;
  readonly offset?: number | undefined;
}

function located(fields: readonly string[], content: Draft): Located {
  const place = readPlace(fields, 6, content);
  if (place === undefined || (fields[6] !== "A" && fields[6] !== "V")) return { effect: malformed };
  const digits = clockDigits(fields[2]);
  // Nothing or zeros: the tracker has no clock. Anything else was a date before it was damaged.
  if (digits === undefined) {
    const clockless = /^0*$/.test(fields[2] ?? "");
    return { effect: clockless ? fixOf({ ...place, time: undefined }, content) : malformed };
  }
  const local = clockTime(digits);
  if (local === undefined) {
    content.attributes.reportedDate = digits.slice(0, 6);
    content.attributes.reportedTime = digits.slice(6);
    return { effect: fixOf({ ...place, time: 0 }, content) };
  }
  const { time, offset } = positionTime(local, fields[5] ?? "");
  return { effect: fixOf({ ...place, time }, content), offset };
}

/**
 * `L`: no satellites, and perhaps the cell, in hexadecimal: `L,,,1A2B,,3C4D,,,`. What is not there at all is the same.
 */
function unlocated(fields: readonly string[], content: Draft): Located {
  const lac = fields[7] ?? "";
  const cellId = fields[9] ?? "";
  if (/^[0-9a-f]{1,8}$/i.test(lac) && /^[0-9a-f]{1,8}$/i.test(cellId)) {
    const cells = cellsText([{ lac: Number.parseInt(lac, 16), cellId: Number.parseInt(cellId, 16) }]);
    if (cells !== undefined) content.attributes.cells = cells;
  }
  return { effect: readingsOrNothing(content, "no position and no event") };
}

/**
 * `OBD`: odometer km, fuel used now, average fuel l/100 km, running time h, speed km/h, load, coolant, throttle, engine
 * speed, voltage, trouble codes (GPRS Protocol, 5.4). The time is the tracker's own, so the report counts from its
 * arrival until a position has told what that clock is ahead of UTC.
 */
const obd: Handler = (frame, session) => {
  const fields = fieldsOf(frame);
  const id = imeiOf(fields[0]);
  if (id === undefined) return { session, effects: [malformed] };
  const content = draft();
  for (const [index, name, manualName, factor] of obdNumbers) {
    const value = percentOf(fields[index]);
    if (value !== undefined && value * factor <= Number.MAX_SAFE_INTEGER)
      put(content, name, value * factor, manualName);
    else if (/[0-9A-Za-z]/.test(fields[index] ?? "")) content.attributes[manualName] = fields[index] ?? "";
  }
  const instant = numberOf(fields[4]);
  if (instant !== undefined) content.attributes.instantFuel = instant;
  const codes = fields.slice(13).filter((code) => code.trim() !== "");
  if (codes.length > 0) content.readings.dtcs = codes.join(" ");
  const digits = clockDigits(fields[2]);
  const local = digits === undefined ? undefined : clockTime(digits);
  const time =
    local === undefined || session.offset === undefined || session.id !== id ? undefined : local - session.offset;
  return decoded(session, id, [readingsOf(content, time)]);
};

/** Field, reading, the manual's name, and the factor to the reading's unit. */
const obdNumbers = [
  [3, "odometer", "accumulativeMileage", 1],
  [5, "fuelConsumption", "averageFuel", 1],
  [6, "engineSeconds", "drivingTime", 3600],
  [7, "vehicleSpeed", "obdSpeed", 1],
  [8, "engineLoad", "powerLoad", 1],
  [9, "coolantTemperature", "waterTemperature", 1],
  [10, "throttle", "throttlePercentage", 1],
  [11, "rpm", "engineSpeed", 1],
  [12, "externalVoltage", "batteryVoltageObd", 1],
] as const;

/**
 * The form that ends with `*`: event, sensor and its voltage, time, date, signal, state of GPS, decimal degrees, km/h,
 * course, altitude, HDOP, satellites, ACC, charging, error. Dashes stand for what there is not.
 */
const alternative: Handler = (frame, session) => {
  const fields = fieldsOf(frame);
  const id = imeiOf(fields[0]);
  const [latitude, longitude] = [numberOf(fields[9]), numberOf(fields[10])];
  const [clock = "", date = ""] = fields.slice(5, 7);
  if (id === undefined || latitude === undefined || longitude === undefined || !/^\d{12}$/.test(clock + date))
    return { session, effects: [malformed] };
  const content = draft();
  const { readings, attributes } = content;
  readKeyword(/^-*$/.test(fields[2] ?? "") ? "" : (fields[2] ?? ""), content);
  for (const [index, name] of alternativeTexts) {
    const text = fields[index] ?? "";
    if (!/^-*$/.test(text)) attributes[name] = text;
  }
  const signal = numberOf(fields[7]);
  // 99: not known.
  if (signal !== undefined && signal <= 31) put(content, "signal", Math.round((signal * 100) / 31), "csq");
  put(content, "hdop", numberOf(fields[14]), "dilution");
  put(content, "satellites", numberOf(fields[15]), "satelliteCount");
  if (fields[16] === "0" || fields[16] === "1") readings.ignition = fields[16] === "1";
  if (fields[17] === "0" || fields[17] === "1") readings.charging = fields[17] === "1";
  const time = clockTime(date.slice(4, 6) + date.slice(2, 4) + date.slice(0, 2) + clock);
  if (time === undefined) {
    attributes.reportedDate = date;
    attributes.reportedTime = clock;
  }
  const motion = readMotion(fields, 11, content);
  const valid = (numberOf(fields[8]) ?? 0) > 0;
  return decoded(session, id, [fixOf({ time: time ?? 0, valid, latitude, longitude, ...motion }, content)]);
};

const alternativeTexts = [
  [3, "sensorId"],
  [4, "sensorVoltage"],
  [18, "error"],
] as const;

/** A part of a photo, in hexadecimal. Photos are not kept. */
const photo: Handler = (frame, session) => {
  const id = imeiOf(fieldsOf(frame)[0]);
  if (id === undefined) return { session, effects: [malformed] };
  return decoded(session, id, [{ type: "ignored", reason: "part of a photo" }]);
};

/** Every message. */
export const rows: readonly MessageRow<Gps103Session>[] = [
  { name: "login", keys: ["login"], handle: login },
  { name: "heartbeat", keys: ["heartbeat"], handle: heartbeat },
  { name: "location or alarm", keys: ["report"], handle: report },
  { name: "answer to a command", keys: ["answer"], handle: report },
  { name: "OBD", keys: ["OBD"], handle: obd },
  { name: "location that ends with *", keys: ["alternative"], handle: alternative },
  { name: "vr, part of a photo", keys: ["vr"], handle: photo },
];
