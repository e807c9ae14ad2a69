import type { Effect } from "../../model/effects.ts";
import type { DecodeContext, MessageRow } from "../../wire/protocol.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { type Draft, draft, raise, readingsOrNothing } from "../../wire/report.ts";
import { hexOf, numberOf } from "../../wire/text.ts";
import { readCan } from "./canbus.ts";
import { readAccessory, readEri } from "./eri.ts";
import { type EventForm, events, ownFieldNames, putVolts, reportTypeNames } from "./events.ts";
import {
  answers,
  type ReadBody,
  readData,
  readGsm,
  readInformation,
  readLbs,
  readVersion,
  readWifi,
} from "./information.ts";
import { type Place, placesOf, positionOf } from "./location.ts";
import { modelOf } from "./models.ts";
import { readObd } from "./obd.ts";
import { keepNumber, type Sentence, sendTimeOf, sentenceOf } from "./sentence.ts";
import type { Session } from "./session.ts";
import { readAppended, readTail } from "./tail.ts";

const malformed: Effect = Object.freeze({ type: "failure", cause: "malformed" });

/** A row: splits the message, says who sent it, and acknowledges it once what it reported is stored. */
function row(
  name: string,
  keys: readonly string[] | undefined,
  understand: (sentence: Sentence, context: DecodeContext) => readonly Effect[],
  acknowledge: (sentence: Sentence) => Effect | undefined = acknowledgement,
): MessageRow<Session> {
  return {
    name,
    ...(keys && { keys }),
    handle(frame, session, context) {
      const sentence = sentenceOf(frame);
      if (sentence === undefined) return { session, effects: [malformed] };
      const effects = [...understand(sentence, context)];
      const { id } = sentence;
      if (id !== session.id) effects.unshift({ type: "identify", ids: [id] });
      const reply = acknowledge(sentence);
      if (reply !== undefined) effects.push(reply);
      return { session: id === session.id ? session : { id }, effects };
    },
  };
}

/**
 * `+SACK:count$`: a tracker that is set to wait for it sends a message again until it comes; another one passes it
 * over. (GL300 1.02, 3.5)
 */
function acknowledgement({ count }: Sentence): Effect | undefined {
  if (!/^[0-9A-F]{4}$/i.test(count)) return undefined;
  return { type: "reply", bytes: bytesOfLatin1(`+SACK:${count}$`), when: "stored" };
}

/** A report of a message: what made the tracker report, and whether it comes from the tracker's memory. */
function begin({ type, head, vin }: Sentence): Draft {
  const report = draft();
  report.attributes.event = type;
  if (head === "+BUFF") report.attributes.archive = true;
  if (vin !== undefined) report.readings.vin = vin;
  return report;
}

/** All positions of a message. What stands around them belongs to the last one. */
function positions(
  sentence: Sentence,
  model: string,
  before: number,
  readLast: (report: Draft, place: Place, before: readonly string[]) => void,
  valid = true,
): readonly Effect[] {
  const places = placesOf(sentence, before);
  const first = places[0];
  const last = places.at(-1);
  if (first === undefined || last === undefined)
    return [readingsOrNothing(begin(sentence), "no position", sendTimeOf(sentence))];
  return places.map((place) => {
    const report = begin(sentence);
    if (place === last) readLast(report, place, sentence.fields.slice(sentence.body, first.start));
    else readAppended(sentence, place.after, report, model);
    return positionOf(sentence, place, report, valid);
  });
}

function eventEffects(sentence: Sentence, context: DecodeContext, form: EventForm): readonly Effect[] {
  const model = modelOf(sentence, context);
  return positions(sentence, model, form.before, (report, place, before) => {
    if (form.alarm !== undefined) raise(report, form.alarm);
    form.read?.(report, before, model);
    readTail(sentence, place, report, model);
  });
}

function eventRow(name: string, keys: readonly string[]): MessageRow<Session> {
  return row(name, keys, (sentence, context) =>
    eventEffects(sentence, context, events.get(sentence.type) ?? { before: 0 }),
  );
}

/** A message without a position. */
function bodyRow(name: string, keys: readonly string[], bodyOf: (type: string) => ReadBody | undefined) {
  return row(name, keys, (sentence, context) => {
    const report = begin(sentence);
    bodyOf(sentence.type)?.(sentence, report, modelOf(sentence, context));
    return [readingsOrNothing(report, sentence.type, sendTimeOf(sentence))];
  });
}

/** Answers of the heartbeat go out at once: they vouch for nothing but the connection. */
const heartbeat = row(
  "GTHBD heartbeat",
  ["GTHBD"],
  () => [{ type: "ignored", reason: "heartbeat" }],
  ({ version, count }) => ({
    type: "reply",
    bytes: bytesOfLatin1(`+SACK:GTHBD,${version},${count}$`),
    when: "identified",
  }),
);

/** The serial number of the command stands before the send time. */
function commandRow(name: string, key: string, ok: boolean): MessageRow<Session> {
  return row(name, [key], (sentence) => [
    {
      type: "commandResult",
      text: sentence.fields.join(","),
      to: `${sentence.type},${sentence.fields[sentence.end - 1] ?? ""}`.toUpperCase(),
      ok,
    },
  ]);
}

/** Settings, in answer to AT+GTRTO. */
const settings = row("GTALM, GTALC, GTALS, GTALL settings", ["GTALM", "GTALC", "GTALS", "GTALL"], ({ fields }) => [
  { type: "commandResult", text: fields.join(",") },
]);

/**
 * Ignition, or what stands for it: how long it was the other way before. CV200 and the virtual ignition have two fields
 * more.
 */
const ignition = row(
  "GTIGN, GTIGF, GTVGN, GTVGF ignition on and off",
  ["GTIGN", "GTIGF", "GTVGN", "GTVGF"],
  (sentence, context) => {
    const { type } = sentence;
    const model = modelOf(sentence, context);
    const width = model === "CV200" || type.startsWith("GTV") ? 3 : 1;
    return positions(sentence, model, width, (report, place, before) => {
      report.readings.ignition = type.endsWith("N");
      keepNumber(report, type.endsWith("N") ? "ignitionOffDuration" : "ignitionOnDuration", before.at(-1));
      readTail(sentence, place, report, model);
    });
  },
);

/** The fixed report with what its mask names; its fields before the position are one more. */
const eri = row("GTERI expanded fixed report", ["GTERI"], (sentence, context) => {
  const model = modelOf(sentence, context);
  const { fields, body } = sentence;
  const mask = hexOf(fields[body]) ?? 0;
  return positions(sentence, model, 4, (report, place) => {
    if ((numberOf(fields[body + 1]) ?? 0) > 10) putVolts(report, fields[body + 1]);
    readEri(sentence, place, mask, report, model);
  });
});

/** Report type, mask, what the mask names, position, mileage. */
const obd = row("GTOBD readings of the vehicle", ["GTOBD"], (given, context) => {
  // The vehicle's number stands in front of the device name, also where it is empty.
  const sentence = { ...given, body: 5 };
  const model = modelOf(sentence, context);
  const { fields, body, end } = sentence;
  const mask = hexOf(fields[body + 1]) ?? 0;
  const [place] = placesOf(sentence, end);
  if (place === undefined) {
    const report = begin(sentence);
    readObd(fields, body + 2, end, mask, report);
    return [readingsOrNothing(report, "no readings", sendTimeOf(sentence))];
  }
  return positions(sentence, model, end, (report, { start }) => {
    readObd(fields, body + 2, start, mask, report);
    readTail(sentence, place, report, model);
  });
});

/** Report type, state of the bus, mask, what the mask names, and a position, in which an accuracy of 0 is none. */
const can = row("GTCAN readings of the vehicle's bus", ["GTCAN"], (sentence, context) => {
  const model = modelOf(sentence, context);
  const { fields, body, end } = sentence;
  const mask = hexOf(fields[body + 2]) ?? 0;
  const read = (report: Draft, stop: number): void => {
    keepNumber(report, "canDeviceState", fields[body + 1]);
    readCan(fields, body + 3, stop, mask, report, model);
  };
  if (placesOf(sentence, end).length > 0)
    return positions(sentence, model, end, (report, { start }) => read(report, start), false);
  const report = begin(sentence);
  read(report, end);
  return [readingsOrNothing(report, "no readings", sendTimeOf(sentence))];
});

/**
 * Bluetooth accessory: +RESP:GTBAA with index, type, model, alarm and mask, +RESP:GTBID with number, model and mask.
 */
const accessory = row("GTBAA, GTBID Bluetooth accessory", ["GTBAA", "GTBID"], (sentence, context) => {
  const model = modelOf(sentence, context);
  const { fields, body, end, type } = sentence;
  const maskAt = body + (type === "GTBAA" ? 4 : 2);
  return positions(sentence, model, end, (report, { start }) => {
    if (type === "GTBAA") keepNumber(report, "accessoryAlarm", fields[body + 3]);
    readAccessory(fields, maskAt, start, report);
  });
});

/** Switched on and off. Newer models add the reason. */
const power = row("GTPNA, GTPFA power on and off", ["GTPNA", "GTPFA"], (sentence) => {
  const report = begin(sentence);
  raise(report, sentence.type === "GTPNA" ? "powerOn" : "powerOff");
  return [readingsOrNothing(report, "power", sendTimeOf(sentence))];
});

/** A message of a name that no manual at hand has: its position, which looks the same in all. */
const other = row("other report", undefined, (sentence, context) =>
  eventEffects(sentence, context, { before: sentence.end }),
);

/** The messages of the text form. */
export const textRows: readonly MessageRow<Session>[] = [
  heartbeat,
  commandRow("ACK command was taken", "+ACK", true),
  commandRow("NACK command was refused", "+NACK", false),
  eventRow("GTFRI, GTRTL, GTGEO and others with a report type", reportTypeNames),
  eri,
  ignition,
  eventRow("GTSTT, GTMPN, GTBPL and others with fields of their own", ownFieldNames),
  obd,
  can,
  accessory,
  power,
  bodyRow("GTINF information", ["GTINF"], () => readInformation),
  bodyRow("GTVER versions", ["GTVER"], () => readVersion),
  bodyRow("GTCID, GTCSQ, GTBAT, GTTMZ, GTIOS answers to AT+GTRTO", [...answers.keys()], (type) => answers.get(type)),
  bodyRow("GTGSM cells", ["GTGSM"], () => readGsm),
  bodyRow("GTLBS cells", ["GTLBS"], () => readLbs),
  bodyRow("GTWIF access points", ["GTWIF"], () => readWifi),
  bodyRow("GTDTT data of the serial port", ["GTDTT"], () => readData),
  settings,
  other,
];
