import type { Effect } from "../../model/effects.ts";
import { Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put, readingsOrNothing } from "../../wire/report.ts";
import { troubleCode } from "../../wire/trouble-code.ts";
import type { Message } from "./frames.ts";
import { type Place, readPlace, readTime } from "./position.ts";
import { readFixStatus } from "./status.ts";

/** Bytes of a time and location stamp of type 9: the last part of type 0. */
const stampLength = 31;

/** What the modules of a message tell together. */
interface Told {
  readonly report: Draft;
  place?: Place;
  time?: number | undefined;
}

/** Module 1 of type 11: how many trouble codes are stored and pending, and the codes. */
function readTroubleCodes(reader: Reader, { report }: Told): void {
  const [stored, pending] = [reader.u8(), reader.u8()];
  report.readings.dtcCount = stored;
  const codes: string[] = [];
  while (codes.length < stored + pending && reader.remaining >= 2) codes.push(troubleCode(reader.u16()));
  const [known, expected] = [codes.slice(0, stored), codes.slice(stored)];
  if (known.length > 0) report.readings.dtcs = known.join(" ");
  if (expected.length > 0) report.attributes.pendingDtcs = expected.join(" ");
}

/** Module 2: operator, signature of the list of variables, a count, and of each its number, length and value. */
function readVariables(reader: Reader, { report }: Told): void {
  reader.skip(2);
  report.attributes.variablesOf = reader.u32le();
  for (let left = reader.u8(); left > 0 && reader.remaining >= 3; left--) {
    const name = `variable0x${reader.u16le().toString(16).padStart(4, "0")}`;
    const length = reader.u8();
    report.attributes[name] = length === 4 ? reader.u32le() : reader.hex(length);
  }
}

/** Module 6: HDOP as the receiver has it, modes 1 and 2, satellites, place with the speed in m/s. */
function readLocation(reader: Reader, told: Told): void {
  const { report } = told;
  report.attributes.gpsHdop = reader.u8();
  const mode = reader.u8();
  report.attributes.gpsMode1 = mode;
  report.attributes.gpsMode2 = reader.u8();
  put(report, "satellites", reader.u8(), "satellitesUsed");
  told.place = readPlace(reader, mode, "m/s");
}

/** Module 7: whether the time is right, and the time. */
function readTimeStamp(reader: Reader, told: Told): void {
  const isValid = reader.u8() !== 0;
  const time = readTime(reader, 1);
  if (isValid) told.time = time;
}

/** Module 4 of type 9: the last part of type 0. */
function readStamp(reader: Reader, told: Told): void {
  if (reader.remaining !== stampLength) throw new RangeError("a stamp of another length");
  told.place = readPlace(reader, readFixStatus(told.report, reader), "cm/s");
  told.time = readTime(reader, 2);
}

type Module = (reader: Reader, told: Told) => void;

const short: ReadonlyMap<number, Module> = new Map<number, Module>([[4, readStamp]]);
const extended: ReadonlyMap<number, Module> = new Map<number, Module>([
  [1, readTroubleCodes],
  [2, readVariables],
  [6, readLocation],
  [7, readTimeStamp],
]);

/** A module that nobody knows, or is not of its form, is kept as hex. */
function readModule(value: Reader, told: Told, type: number, module: Module | undefined): void {
  const start = value.offset;
  try {
    if (module !== undefined) {
      module(value, told);
      return;
    }
  } catch {
    // It is kept as it is.
  }
  value.seek(start);
  told.report.attributes[`module${type}`] = value.hex(value.remaining);
}

function effectOf({ report, place, time }: Told): Effect {
  return place === undefined
    ? readingsOrNothing(report, "no module that tells anything", time)
    : fixOf({ ...place, time }, report);
}

/** Type 9: packet control, length, modules of a type, a length of one byte and a value. */
export function readModules({ body }: Message): readonly Effect[] {
  const told: Told = { report: draft() };
  body.skip(2);
  readAll(body, told, short, () => body.u8());
  return [effectOf(told)];
}

/** Type 11: packet control, length, 4 reserved bytes, modules of a type, a length of two bytes and a value. */
export function readExtended({ body }: Message): readonly Effect[] {
  const told: Told = { report: draft() };
  body.skip(7);
  readAll(body, told, extended, () => body.u16le());
  return [effectOf(told)];
}

function readAll(body: Reader, told: Told, known: ReadonlyMap<number, Module>, lengthOf: () => number): void {
  while (body.remaining >= 2) {
    const type = body.u8();
    const length = Math.min(lengthOf(), body.remaining);
    readModule(new Reader(body.bytes, body.offset, body.offset + length), told, type, known.get(type));
    body.skip(length);
  }
}
