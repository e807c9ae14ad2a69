import { protocolById } from "../../src/protocols/index.ts";
import { type AvlRecord, codec8Packet, login } from "../../src/protocols/teltonika/encode.ts";
import type { SimulatedDevice, SimulatedReport, Transport } from "../../src/wire/protocol.ts";
import { Writer } from "../../src/wire/writer.ts";
import { AckedTracker, type Speech } from "./acked-tracker.ts";
import { type Content, contentOf } from "./location-content.ts";

/*
 * Trackers whose reports come as they do in the field: most in order, some late, some twice, some of the same second. A
 * tracker's history is a line of numbered reports, and a message holds those of a slot of it.
 */

/** A tracker, and what each of its messages must have become once it is stored. */
export interface FleetTracker extends AckedTracker {
  expected(message: number): readonly Content[];
}

/** In which order a tracker tells the reports of its history, and what its clock says of each. */
export interface Telling {
  /** Where a message lies on the line of the tracker's history. */
  readonly slot: (message: number) => number;
  /** The time of a report, ms. */
  readonly time: (number: number) => number;
}

/** A kind of trackers: its protocol, the way of its messages, and how many reports each has. */
export type Kind = readonly [id: string, transport: Transport, perMessage: number];

/** Slots of the messages of a block: 5 comes early and is told again after 1 to 4, which are late for it. */
const order = [0, 1, 5, 2, 3, 4, 5, 8, 6, 7] as const;
const slots = 9;
/** Every so many blocks the repeat makes room for a report that is older than all before. */
const oldest = 4;

/** Where a message lies on the line of its tracker's history. */
function slotOf(message: number): number {
  const block = Math.floor(message / order.length);
  const place = message % order.length;
  if (place === 6 && block % oldest === oldest - 1) return -1 - block;
  return block * slots + (order[place] ?? 0);
}

function numbersOf({ slot }: Telling, message: number, perMessage: number): readonly number[] {
  const first = slot(message) * perMessage;
  return Array.from({ length: perMessage }, (_, index) => first + index);
}

const modulo = (value: number, by: number) => ((value % by) + by) % by;

/** A drive of stops and goes, in 20 reports each; some have no satellites. */
function drive({ time }: Telling, number: number): SimulatedReport {
  const phase = modulo(number, 20);
  const steps = Math.floor(number / 20) * 12 + Math.min(phase, 12);
  const blind = modulo(number, 17) === 0;
  return {
    time: time(number),
    latitude: 40 + steps / 10_000,
    longitude: 10 + steps / 10_000,
    altitude: 100 + modulo(number, 50),
    speed: phase < 12 && !blind ? 36 + phase : 0,
    course: blind ? 0 : modulo(number * 7, 360),
    satellites: blind ? 0 : 5 + modulo(number, 8),
    ignition: phase < 15,
    battery: modulo(number, 101),
  };
}

/** An FMB record with three inputs, the third one only now and then reported. */
function avlRecord(telling: Telling, number: number): AvlRecord {
  const report = drive(telling, number);
  return {
    time: report.time,
    longitude: Math.round(report.longitude * 1e7),
    latitude: Math.round(report.latitude * 1e7),
    altitude: report.altitude,
    angle: report.course,
    satellites: report.satellites,
    speed: report.speed,
    one: [
      [239, report.ignition ? 1 : 0],
      [1, modulo(number, 14) < 7 ? 1 : 0],
      [2, modulo(number, 39) < 13 ? 1 : 0],
      ...(modulo(number, 4) === 0 ? ([[3, modulo(number, 8) === 0 ? 1 : 0]] as const) : []),
      [21, modulo(number, 6)],
      [113, modulo(number, 101)],
    ],
    two: [
      [66, 12_000 + modulo(number, 2000)],
      [9, modulo(number, 5000)],
    ],
    four: [[241, 24_701]],
  };
}

const packet = (telling: Telling, numbers: readonly number[]) =>
  codec8Packet(numbers.map((number) => avlRecord(telling, number)));

/**
 * "UDP channel protocol": length, packet id, a byte that is not used, number of the AVL packet, the IMEI after its
 * length, and the data field of TCP.
 */
function datagram(device: string, data: Uint8Array, serial: number): Uint8Array {
  const body = data.subarray(8, data.length - 4);
  return new Writer(body.length + 32)
    .u16(8 + device.length + body.length - 2)
    .u16(0xcafe)
    .u8(1)
    .u8(serial)
    .u16(device.length)
    .latin1(device)
    .raw(body)
    .done();
}

/** Length, packet id, a byte that is not used, number of the AVL packet, count of accepted records. */
const datagramAnswer: Speech["answer"] = (bytes) =>
  bytes.length < 7 ? "more" : { length: 7, accepted: (bytes[6] ?? 0) > 0, reports: bytes[6] ?? 0 };

function simulatorOf(id: string): SimulatedDevice & Required<Pick<SimulatedDevice, "answer">> {
  const simulate = protocolById(id)?.simulate;
  if (simulate?.answer === undefined) throw new Error(`${id} acknowledges nothing`);
  return { ...simulate, answer: simulate.answer };
}

function speech([id, transport, perMessage]: Kind, telling: Telling): Speech {
  const numbers = (message: number) => numbersOf(telling, message, perMessage);
  const { answer, login: greet, report } = simulatorOf(id);
  if (id !== "teltonika")
    return {
      transport: "tcp",
      login: greet,
      answer,
      message: (device, index, serial) =>
        report(
          device,
          numbers(index).map((number) => drive(telling, number)),
          serial,
        ),
    };
  if (transport === "udp")
    return {
      transport,
      answer: datagramAnswer,
      message: (device, index, serial) => datagram(device, packet(telling, numbers(index)), serial),
    };
  return {
    transport: "tcp",
    login,
    answer,
    message: (_device, index) => packet(telling, numbers(index)),
  };
}

/** What a message says, read by its protocol. */
function decoded(id: string, transport: Transport, bytes: Uint8Array): readonly Content[] {
  const connection = protocolById(id)?.connect();
  const effects = connection?.decode(bytes, { receivedAt: Date.now(), transport, identified: true, options: {} }) ?? [];
  return effects.flatMap((effect) => (effect.type === "fix" ? [contentOf(effect)] : []));
}

/** A tracker of a kind that tells its history so. */
export function fleetTracker(device: string, kind: Kind, telling: Telling): FleetTracker {
  const [id, transport] = kind;
  const spoken = speech(kind, telling);
  return Object.assign(new AckedTracker(device, spoken), {
    expected: (message: number) => decoded(id, transport, spoken.message(device, message, 1)),
  });
}

/** Kinds of trackers, and how many there are of each. */
const kinds: readonly (readonly [kind: Kind, count: number])[] = [
  [["teltonika", "tcp", 1], 12],
  [["teltonika", "tcp", 15], 6],
  [["teltonika", "udp", 5], 6],
  [["gt06", "tcp", 1], 8],
  [["h02", "tcp", 1], 8],
  [["osmand", "http", 1], 6],
];

/** When the histories begin: so long ago that all of them count as late by arrival, ms. */
export function historyStart(): number {
  return Math.floor(Date.now() / 1000) * 1000 - 20 * 86_400_000;
}

/** The whole fleet. Each tracker reports once a second; every tenth report is of the same second as the one before. */
export function crashFleet(): readonly FleetTracker[] {
  const start = historyStart();
  const time = (number: number) => start + (number - (modulo(number, 10) === 9 ? 1 : 0)) * 1000;
  return kinds.flatMap(([kind, count], place) =>
    Array.from({ length: count }, (_, index) =>
      fleetTracker(`35299000${place}${String(index).padStart(6, "0")}`, kind, { slot: slotOf, time }),
    ),
  );
}
