import type { Effect, Identify } from "../../model/effects.ts";
import { bit, Reader } from "../../wire/reader.ts";
import { draft, fixOf, readingsOf, readingsOrNothing } from "../../wire/report.ts";
import { positionType, type RecordDraft, teledata, timeOf, vehicle } from "./subrecords.ts";

/** Services and the subrecords of AUTH and COMMANDS. */
export const authService = 1;
const teledataService = 2;
const commandsService = 4;
const terminalIdentity = 1;
const vehicleData = 3;
const commandData = 51;

/** What a record says. */
export interface RecordMeaning {
  readonly service: number;
  readonly number: number;
  /** Object that the record is about; absent or 0: the terminal itself. */
  readonly object: number | undefined;
  /** Who the terminal says it is (EGTS_SR_TERM_IDENTITY). */
  readonly identity: Identify | undefined;
  readonly effects: readonly Effect[];
}

function text(reader: Reader, length: number): string {
  return reader
    .latin1(length)
    .replaceAll(/[\0\s]+/g, " ")
    .trim();
}

/**
 * EGTS_SR_TERM_IDENTITY: terminal's number, and by its flags dispatcher, IMEI, IMSI, language, network, buffer, phone
 * number.
 */
function readIdentity(reader: Reader): Identify | undefined {
  const terminal = reader.u32le();
  const flags = reader.u8();
  if (bit(flags, 0)) reader.skip(2);
  const imei = bit(flags, 1) ? text(reader, 15) : "";
  const imsi = bit(flags, 2) ? text(reader, 16) : "";
  if (bit(flags, 3)) reader.skip(3);
  if (bit(flags, 5)) reader.skip(3);
  if (bit(flags, 6)) reader.skip(2);
  const phone = bit(flags, 7) ? text(reader, 15) : "";
  const ids = [imei, imsi, phone, terminal > 0 ? String(terminal) : ""].filter((id) => id !== "");
  return ids.length === 0 ? undefined : { type: "identify", ids: [...new Set(ids)] };
}

/**
 * EGTS_SR_COMMAND_DATA: kind, result, the command's number, sender, and by flags a character set and a code; then the
 * answer.
 */
function readCommand(reader: Reader, length: number): Effect {
  const end = reader.offset + length;
  const kind = reader.u8();
  reader.skip(8);
  const flags = reader.u8();
  if (bit(flags, 0)) reader.skip(1);
  if (bit(flags, 1)) reader.skip(reader.u8());
  const content = text(reader, Math.max(0, end - reader.offset));
  const result = kind & 0x0f;
  return {
    type: "commandResult",
    text: content === "" ? `result ${result}` : content,
    ok: result === 0,
  };
}

function finished(record: RecordDraft, time: number | undefined): readonly Effect[] {
  const { report, position } = record;
  if (position?.valid) return [fixOf(position, report)];
  // A position that the terminal calls invalid is none: its coordinates may be of any time.
  if (position !== undefined) return [readingsOf(report, position.time)];
  const effect = readingsOrNothing(report, "nothing to store", time);
  return effect.type === "ignored" ? [] : [effect];
}

/** Reads one record: length, number, flags, object, event, time, service of sender and recipient, subrecords. */
export function readRecord(reader: Reader): RecordMeaning {
  const length = reader.u16le();
  const number = reader.u16le();
  const flags = reader.u8();
  const object = bit(flags, 0) ? reader.u32le() : undefined;
  if (bit(flags, 1)) reader.skip(4);
  const time = bit(flags, 2) ? timeOf(reader.u32le()) : undefined;
  const service = reader.u8();
  reader.skip(1);
  const end = reader.offset + Math.min(length, reader.remaining);
  const effects: Effect[] = [];
  let identity: Identify | undefined;
  let record: RecordDraft = { report: draft(), position: undefined };
  while (end - reader.offset >= 3) {
    const type = reader.u8();
    const size = reader.u16le();
    const next = reader.offset + size;
    if (next > end) break;
    if (type === positionType && record.position !== undefined) {
      effects.push(...finished(record, time));
      record = { report: draft(), position: undefined };
    }
    if (service === authService && type === terminalIdentity) identity = readIdentity(reader);
    else if (service === authService && type === vehicleData) read(vehicle, reader, record, size);
    else if (service === commandsService && type === commandData) effects.push(readCommand(reader, size));
    else if (service === teledataService) {
      const subrecord = teledata.get(type);
      if (subrecord === undefined) record.report.attributes[`subrecord${type}`] = reader.hex(size);
      else read(subrecord, reader, record, size);
    }
    reader.seek(next);
  }
  reader.seek(end);
  effects.push(...finished(record, time));
  return { service, number, object, identity, effects };
}

/** Reads a subrecord within its own bytes; one that holds less than it says costs only itself. */
function read(
  subrecord: (reader: Reader, record: RecordDraft, length: number) => void,
  reader: Reader,
  record: RecordDraft,
  length: number,
): void {
  const { bytes, offset } = reader;
  try {
    subrecord(new Reader(bytes, offset, offset + length), record, length);
  } catch {
    record.report.attributes.unreadable = reader.hex(length);
  }
}
