import { latin1Of } from "../../wire/reader.ts";
import { type Draft, put } from "../../wire/report.ts";
import { hexOf, numberOf } from "../../wire/text.ts";

const semicolon = 0x3b;
const escapeMark = 0x01;

/** Where a report of an external device holds its data. */
export interface ExternalPlace {
  /** Offset of LEN. */
  readonly length: number;
  /** Offset of DATA, and behind it. */
  readonly from: number;
  /** Undefined: the bytes end within the data. */
  readonly to: number | undefined;
}

/**
 * Fields between LON and LEN: SPD, CRS, SATT, FIX, then DIST, PWR_VOLT, I/O, or in the universal format inputs and
 * outputs.
 */
const fieldsToLength = { legacy: 8, universal: 7 } as const;

/** Most data of an external device (ST300/340 Operation Manual, 6-7-1). */
const maximumData = 512;

/**
 * The data of a report `UEX`, which may hold any byte, also a line end or a semicolon. Undefined: there is no such
 * place before the offset `end`.
 */
export function externalPlace(bytes: Uint8Array, start: number, end: number): ExternalPlace | undefined {
  const head = bytes.indexOf(semicolon, start);
  if (head < 3 + start || head >= end || latin1Of(bytes.subarray(head - 3, head)) !== "UEX") return undefined;
  const wanted = head === start + 3 ? fieldsToLength.universal : fieldsToLength.legacy;
  let at = head + 1;
  let coordinates = 0;
  let behind = -1;
  for (let field = 1; field < 40; field++) {
    const next = bytes.indexOf(semicolon, at);
    if (next < 0 || next >= end) return undefined;
    if (behind >= 0) behind++;
    if (behind === wanted) return dataPlace(bytes, at, next);
    const sign = bytes[at] === 0x2b || bytes[at] === 0x2d;
    if (behind < 0 && sign && bytes.subarray(at, next).includes(0x2e)) coordinates++;
    if (behind < 0 && coordinates === 2) behind = 0;
    at = next + 1;
  }
  return undefined;
}

/** 0x00 is sent as 0x01 0x10, 0x01 as 0x01 0x11; LEN counts what they stand for. */
function dataPlace(bytes: Uint8Array, at: number, next: number): ExternalPlace | undefined {
  const count = numberOf(latin1Of(bytes.subarray(at, next)));
  if (count === undefined || count > maximumData) return undefined;
  let to = next + 1;
  for (let taken = 0; taken < count; taken++) to += bytes[to] === escapeMark ? 2 : 1;
  return { length: at, from: next + 1, to: to <= bytes.length ? to : undefined };
}

/** The data without its escapes. */
export function unescaped(bytes: Uint8Array): Uint8Array {
  const plain = new Uint8Array(bytes.length);
  let size = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    plain[size++] = byte === escapeMark ? (bytes[++at] ?? 0) & 0x0f : byte;
  }
  return plain.subarray(0, size);
}

/**
 * Reads what an external device said: drivers' cards and fuel probes. The text itself is kept too, or its hex where it
 * is none.
 */
export function readExternal(report: Draft, data: Uint8Array): void {
  const text = latin1Of(data).trim();
  if (text === "") return;
  if (!/^[\x20-\x7e\r\n\t]*$/.test(text)) {
    report.attributes.externalData = data.toHex();
    return;
  }
  report.attributes.externalData = text;
  const card = /^RFID:(\w+)$/.exec(text)?.[1] ?? /^GTSL(?:\|[^|]*){3}\|(\w+)\|/.exec(text)?.[1];
  if (card !== undefined) report.readings.driverId = card;
  const pieces = text.split(";").map((piece) => piece.trim());
  if (!pieces.some((piece) => probePattern.test(piece))) return;
  report.attributes.probeLevels = pieces.reduce((sum, piece) => sum + readProbe(report, piece), 0);
}

/** What fuel probes say: `t_0=1C;N_0=0419.0`, or a sentence of CabAVL. */
const probePattern = /^(?:[tNQ]_\w=|CabAVL,)/;

/** `t_0=1C` °C, `N_0=0419.0` level of a probe, `Q_D=09`: all in hex. Answers the level, or 0. */
function readProbe(report: Draft, pair: string): number {
  if (pair.startsWith("CabAVL,")) return readCabAvl(report, pair.split(","));
  const [name = "", value = ""] = pair.split("=");
  const number = hexOf(value.split(".")[0]);
  if (!/^\w{3}$/.test(name) || number === undefined) return 0;
  if (name === "t_0") put(report, "fuelTemperature", number > 0x7f ? number - 0x100 : number, "t_0");
  else report.attributes[name] = number;
  return name.startsWith("N") ? number : 0;
}

/** `CabAVL,number,level,level...`: the levels of two tanks. */
function readCabAvl(report: Draft, fields: readonly string[]): number {
  const levels = [numberOf(fields[2]) ?? 0, numberOf(fields[3]) ?? 0];
  for (const [index, level] of levels.entries()) if (level > 0) report.attributes[`fuelLevel${index + 1}`] = level;
  return levels.reduce((sum, level) => sum + Math.max(0, level), 0);
}
