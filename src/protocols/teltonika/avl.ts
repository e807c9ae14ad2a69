import type { Alarm } from "../../model/alarms.ts";
import type { Attributes, Effect, Report } from "../../model/effects.ts";
import { alarmOf } from "./alarms.ts";
import { withCell } from "./cells.ts";
import { type ElementTable, type Family, put, type Sink, unknownName } from "./elements.ts";
import { putEight, putVariable } from "./long-elements.ts";
import { familyOfModel, fmb, professional } from "./tables.ts";

/** Codec ids of AVL data ("Codec for device data sending" of the protocol manual). */
export const codec8 = 0x08;
export const codec8Extended = 0x8e;
export const codec16 = 0x10;

const generationTypes = [
  "onExit",
  "onEntrance",
  "onBoth",
  "reserved",
  "hysteresis",
  "onChange",
  "eventual",
  "periodical",
];

const noAlarms: readonly Alarm[] = Object.freeze([]);
const noAttributes: Attributes = Object.freeze({});

/**
 * Decodes the AVL data array of a packet: codec id, count, records, count again, in bytes [start, end) of it.
 * Undefined where the counts differ or the records do not fill the array exactly.
 */
export function avlRecords(
  packet: Uint8Array,
  start: number,
  end: number,
  model: string | undefined,
): Effect[] | undefined {
  // Only the professional family speaks Codec 16.
  const tables = familyOfModel(model) ?? (packet[start] === codec16 ? professional : fmb);
  const records = attempt(packet, start, end, tables, false);
  // Nothing in the packet tells of the group of 16-byte elements that special firmware for Codec 8 adds, but that only
  // it adds up.
  return records ?? (packet[start] === codec8 ? attempt(packet, start, end, tables, true) : undefined);
}

function attempt(
  packet: Uint8Array,
  start: number,
  end: number,
  tables: Family,
  sixteen: boolean,
): Effect[] | undefined {
  const parser = new RecordParser(packet, start, end, tables, sixteen);
  const count = packet[start + 1] ?? 0;
  const effects: Effect[] = [];
  try {
    for (let index = 0; index < count; index++) effects.push(parser.record());
  } catch (error) {
    // A record that reaches beyond its packet.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return parser.at === end - 1 && packet[end - 1] === count ? effects : undefined;
}

/** The hot path: one instance for a packet, plain numbers, no intermediate copies. */
class RecordParser {
  at: number;
  readonly #packet: Uint8Array;
  readonly #view: DataView;
  readonly #tables: Family;
  /** Event and element ids of two bytes (Codec 8 Extended and 16); counts of two bytes (Codec 8 Extended). */
  readonly #wideIds: boolean;
  readonly #wideCounts: boolean;
  /** Groups of 16-byte elements follow in Codec 8. */
  readonly #sixteen: boolean;
  readonly #sink: Sink = { readings: {}, attributes: {}, iccidHigh: undefined };
  #event = 0;
  #alarm: Alarm | undefined;

  constructor(packet: Uint8Array, start: number, end: number, tables: Family, sixteen: boolean) {
    const codec = packet[start];
    this.#packet = packet;
    this.#view = new DataView(packet.buffer, packet.byteOffset, end);
    this.at = start + 2;
    this.#wideIds = codec !== codec8;
    this.#wideCounts = codec === codec8Extended;
    this.#tables = tables;
    this.#sixteen = sixteen;
  }

  /**
   * "AVL Data": time, priority, GPS element, IO element. A time that no calendar has is given as any other: ingest
   * refuses it.
   */
  record(): Report {
    const view = this.#view;
    const at = this.at;
    const time = view.getUint32(at) * 0x1_0000_0000 + view.getUint32(at + 4);
    const priority = view.getUint8(at + 8);
    const longitude = view.getInt32(at + 9) / 1e7;
    const latitude = view.getInt32(at + 13) / 1e7;
    const altitude = view.getInt16(at + 17);
    const course = view.getUint16(at + 19);
    const satellites = view.getUint8(at + 21);
    const speed = view.getUint16(at + 22);
    this.at = at + 24;
    const sink = this.#sink;
    sink.readings = { satellites };
    sink.attributes = {};
    sink.iccidHigh = undefined;
    this.#elements(priority);
    if (sink.iccidHigh !== undefined) sink.attributes.iccid1 = sink.iccidHigh;
    const alarms = this.#alarm === undefined ? noAlarms : [this.#alarm];
    const { readings } = sink;
    const attributes = hasAny(sink.attributes) ? withCell(sink.attributes) : noAttributes;
    if (latitude > 90 || latitude < -90 || longitude > 180 || longitude < -180)
      return { type: "readings", time, alarms, readings, attributes };
    // Without a fix the record repeats the last coordinates, and angle and speed are 0: not measured ("GPS Element").
    if (satellites === 0 && speed === 0 && course === 0)
      return { type: "fix", time, valid: false, latitude, longitude, altitude, alarms, readings, attributes };
    const valid = satellites > 0;
    if (course > 360)
      return { type: "fix", time, valid, latitude, longitude, altitude, speed, alarms, readings, attributes };
    return { type: "fix", time, valid, latitude, longitude, altitude, speed, course, alarms, readings, attributes };
  }

  /**
   * "IO Element": the event's id, then groups of elements with values of 1, 2, 4, 8 and (Codec 8 Extended) any number
   * of bytes.
   */
  #elements(priority: number): void {
    const { attributes } = this.#sink;
    if (priority !== 0) attributes.priority = priority;
    this.#alarm = undefined;
    this.#event = this.#wideIds ? this.#u16() : this.#u8();
    if (this.#event !== 0) attributes.event = this.#event;
    if (this.#wideIds && !this.#wideCounts) {
      const generation = this.#u8();
      attributes.generationType = generationTypes[generation] ?? generation;
    }
    // The total is told again by the groups.
    this.#count();
    this.#group(this.#tables.one, 1);
    this.#group(this.#tables.two, 2);
    this.#group(this.#tables.four, 4);
    for (let left = this.#count(); left > 0; left--) putEight(this.#id(), this.#bytes(8), this.#tables, this.#sink);
    if (this.#sixteen)
      for (let left = this.#u8(); left > 0; left--) putVariable(this.#u8(), this.#bytes(16), this.#sink);
    if (this.#wideCounts) for (let left = this.#u16(); left > 0; left--) this.#variable();
  }

  #group(table: ElementTable, width: 1 | 2 | 4): void {
    const view = this.#view;
    for (let left = this.#count(); left > 0; left--) {
      const id = this.#id();
      const row = table.get(id);
      const signed = row?.signed === true;
      const at = this.at;
      this.at = at + width;
      let value: number;
      if (width === 1) value = signed ? view.getInt8(at) : view.getUint8(at);
      else if (width === 2) value = signed ? view.getInt16(at) : view.getUint16(at);
      else value = signed ? view.getInt32(at) : view.getUint32(at);
      if (id === this.#event) this.#alarm = alarmOf(id, value, this.#tables);
      if (row === undefined) this.#sink.attributes[unknownName(id)] = value;
      else put(row, value, this.#sink);
    }
  }

  #variable(): void {
    const id = this.#u16();
    const bytes = this.#bytes(this.#u16());
    // "Button Click" of TMT250, GH5200 and TAT: the high digit 1 is the alarm button.
    if (id === 389 && id === this.#event && (bytes[0] ?? 0) >> 4 === 1) this.#alarm = "sos";
    putVariable(id, bytes, this.#sink);
  }

  #u8(): number {
    return this.#view.getUint8(this.at++);
  }

  #u16(): number {
    const value = this.#view.getUint16(this.at);
    this.at += 2;
    return value;
  }

  #id(): number {
    return this.#wideIds ? this.#u16() : this.#u8();
  }

  #count(): number {
    return this.#wideCounts ? this.#u16() : this.#u8();
  }

  #bytes(length: number): Uint8Array {
    const end = this.at + length;
    if (end > this.#view.byteLength) throw new RangeError("element outside its packet");
    const bytes = this.#packet.subarray(this.at, end);
    this.at = end;
    return bytes;
  }
}

function hasAny(attributes: Attributes): boolean {
  for (const _ in attributes) return true;
  return false;
}
