import type { Effect } from "../../model/effects.ts";
import type { DecodeContext, Decoded } from "../../wire/protocol.ts";
import { putCsq } from "../../wire/radio.ts";
import { latin1Of } from "../../wire/reader.ts";
import { draft, put, readingsOf } from "../../wire/report.ts";
import { numberOf } from "../../wire/text.ts";
import { type AtrackSession, isId } from "./envelope.ts";

/** `$OK`, `$ERROR=101`, or the command's name and what was asked for. (Protocol Document, 2.1) */
export function readAnswer(
  frame: Uint8Array,
  session: AtrackSession,
  { identified }: DecodeContext,
): Decoded<AtrackSession> {
  if (!identified && session.id === undefined)
    return { session, effects: [{ type: "failure", cause: "notIdentified" }] };
  return { session, effects: [resultOf(latin1Of(frame).trim())] };
}

function resultOf(text: string): Effect {
  const ok = text.startsWith("$OK") ? true : text.startsWith("$ERROR") ? false : undefined;
  return { type: "commandResult", text, ...(ok !== undefined && { ok }) };
}

/**
 * `$INFO=`: unit ID, model, firmware, IMEI, IMSI, SIM card, voltages (0.1 V), satellites, GSM status and signal
 * quality, states of connection and
 * antenna. (Protocol Document, AT$INFO)
 */
export function readInfo(frame: Uint8Array, session: AtrackSession): Decoded<AtrackSession> {
  const text = latin1Of(frame).trim();
  const fields = text.slice(text.indexOf("=") + 1).split(",");
  const [id = "", model, firmware, imei, imsi, card] = fields;
  if (!isId(id)) return { session, effects: [{ type: "failure", cause: "malformed" }] };
  const report = draft();
  const { readings, attributes } = report;
  if (model) attributes.model = model;
  if (firmware) readings.firmware = firmware;
  if (imei) attributes.imei = imei;
  if (imsi) attributes.imsi = imsi;
  if (card) readings.iccid = card;
  put(report, "externalVoltage", tenthsOf(fields[6]), "mainVoltage");
  put(report, "batteryVoltage", tenthsOf(fields[7]), "backupVoltage");
  put(report, "satellites", numberOf(fields[8]), "satelliteCount");
  if (fields[9]) attributes.gsmStatus = fields[9];
  const quality = numberOf(fields[10]);
  if (quality !== undefined) putCsq(report, "rssi", quality, "gsmQuality");
  if (fields[12]) attributes.antennaStatus = fields[12];
  const known = id === session.id;
  return {
    session: known ? session : { ...session, id },
    effects: [...(known ? [] : [{ type: "identify", ids: [id] } as const]), readingsOf(report), resultOf(text)],
  };
}

function tenthsOf(text: string | undefined): number | undefined {
  const value = numberOf(text);
  return value === undefined ? undefined : value / 10;
}
