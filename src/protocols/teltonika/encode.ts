import { crc16Arc } from "../../wire/checksums.ts";
import { Writer } from "../../wire/writer.ts";

/** One IO element: id and value. */
export type IoElement = readonly [id: number, value: number];

/** A record of a Codec 8 packet, in the units of the wire: degrees * 1e7, m, degrees, km/h. */
export interface AvlRecord {
  /** Epoch ms. */
  readonly time: number;
  readonly priority?: number;
  readonly longitude: number;
  readonly latitude: number;
  readonly altitude: number;
  readonly angle: number;
  readonly satellites: number;
  readonly speed: number;
  /** Id of the element that caused the record; 0 or absent: none. */
  readonly event?: number;
  /** Elements of 1, 2 and 4 bytes. */
  readonly one: readonly IoElement[];
  readonly two: readonly IoElement[];
  readonly four: readonly IoElement[];
}

/** Preamble, length and CRC-16/ARC around a data field (codec id to second count). */
export function envelope(data: Uint8Array): Uint8Array {
  return new Writer(data.length + 12).u32(0).u32(data.length).raw(data).u32(crc16Arc(data)).done();
}

/** A packet of Codec 12 to 15 with one message: type, size, payload. */
export function dataPacket(codec: number, type: number, payload: Uint8Array): Uint8Array {
  return envelope(
    new Writer(payload.length + 8).u8(codec).u8(1).u8(type).u32(payload.length).raw(payload).u8(1).done(),
  );
}

/** The login message: two bytes of length, the IMEI as text. */
export function login(imei: string): Uint8Array {
  return new Writer(imei.length + 2).u16(imei.length).latin1(imei).done();
}

/** A Codec 8 packet of 1 to 255 records. */
export function codec8Packet(records: readonly AvlRecord[]): Uint8Array {
  if (records.length < 1 || records.length > 255) throw new RangeError("a packet holds 1 to 255 records");
  const writer = new Writer(64 * records.length).u8(0x08).u8(records.length);
  for (const record of records) avlRecord(writer, record);
  return envelope(writer.u8(records.length).done());
}

function avlRecord(writer: Writer, record: AvlRecord): void {
  writer
    .u64(record.time)
    .u8(record.priority ?? 0)
    .i32(record.longitude)
    .i32(record.latitude);
  writer.u16(record.altitude).u16(record.angle).u8(record.satellites).u16(record.speed);
  writer.u8(record.event ?? 0).u8(record.one.length + record.two.length + record.four.length);
  writer.u8(record.one.length);
  for (const [id, value] of record.one) writer.u8(id).u8(value);
  writer.u8(record.two.length);
  for (const [id, value] of record.two) writer.u8(id).u16(value);
  writer.u8(record.four.length);
  for (const [id, value] of record.four) writer.u8(id).u32(value);
  writer.u8(0);
}
