import type { Effect } from "../model/effects.ts";
import { frame, more, skip } from "../wire/framing.ts";
import { type Certainty, type DecodeContext, defineProtocol, type MessageRow } from "../wire/protocol.ts";
import { Reader } from "../wire/reader.ts";
import { type Draft, draft, fixOf, put, readingsOrNothing } from "../wire/report.ts";

/** Longest message: a datagram. */
const maximum = 2048;
/** Set in the first byte of a message with an options header. */
const optionsFlag = 0x80;
/** Service type of a message that the tracker wants acknowledged. */
const acknowledged = 1;
/** Accumulators of a report. */
const mostAccumulators = 63;

interface Session {
  /** Identifier of the last message that had one. */
  readonly id: string | undefined;
}

/** A message: who sent it, and what stands behind its head. */
interface Message {
  readonly id: string | undefined;
  readonly service: number;
  readonly type: number;
  readonly sequence: number;
  readonly body: Reader;
}

/**
 * Options header, where there is one: mobile ID, its type, and options that are passed over. Then service, type,
 * sequence number. (LM Direct, "Message Structure")
 */
function open(bytes: Uint8Array): Message {
  const reader = new Reader(bytes);
  let id: string | undefined;
  if ((reader.peek() & optionsFlag) !== 0) {
    const options = reader.u8();
    for (let bit = 0; bit < 6; bit++) {
      if (((options >> bit) & 1) === 0) continue;
      const value = reader.take(reader.u8());
      if (bit === 0) id = value.toHex().replace(/f+$/, "") || undefined;
    }
    if (((options >> 6) & 1) === 1) reader.skip(reader.u8());
  }
  return { id, service: reader.u8(), type: reader.u8(), sequence: reader.u16(), body: reader };
}

/**
 * Acknowledgement: service 2, type 1, the sequence number, the type that is acknowledged, status 0. (LM Direct,
 * "ACK/NAK Message")
 */
function acknowledgement({ type, sequence }: Message): Effect {
  const bytes = Uint8Array.of(2, 1, sequence >> 8, sequence & 0xff, type, 0, 0, 0, 0, 0);
  return { type: "reply", bytes, when: "stored" };
}

function row(name: string, type: number, understand: (message: Message) => readonly Effect[]): MessageRow<Session> {
  return {
    name,
    keys: [type],
    handle(bytes, session, context: DecodeContext) {
      const message = open(bytes);
      const id = message.id ?? session.id;
      if (id === undefined && !context.identified)
        return { session, effects: [{ type: "failure", cause: "notIdentified" }] };
      const effects = [...understand(message)];
      if (message.id !== undefined && message.id !== session.id)
        effects.unshift({ type: "identify", ids: [message.id] });
      if (message.service === acknowledged) effects.push(acknowledgement(message));
      return { session: { id }, effects };
    },
  };
}

/** Inputs: bit 0 is the ignition, the others are numbered from 1. */
function readInputs(report: Draft, inputs: number): void {
  report.readings.ignition = (inputs & 1) !== 0;
  report.readings.input1 = (inputs & 2) !== 0;
  report.readings.input2 = (inputs & 4) !== 0;
  report.readings.input3 = (inputs & 8) !== 0;
}

/**
 * Time, time of the fix, place, speed, satellites, network, inputs, status: what event reports and user data begin
 * with. The last known place is one.
 */
function readLocation(reader: Reader, report: Draft) {
  const time = reader.u32() * 1000;
  const fixTime = reader.u32() * 1000;
  // The report is of now; its place may be the last known one.
  if (fixTime > 0 && fixTime < time) report.attributes.fixAge = (time - fixTime) / 1000;
  const latitude = reader.i32() / 1e7;
  const longitude = reader.i32() / 1e7;
  const altitude = within(reader.i32() / 100);
  const speed = Math.round(reader.u32() * 3.6) / 100;
  const course = reader.u16();
  put(report, "satellites", reader.u8(), "satellitesUsed");
  const status = reader.u8();
  report.attributes.fixStatus = status;
  report.attributes.carrier = reader.u16();
  put(report, "rssi", reader.i16(), "signalStrength");
  report.attributes.commState = reader.u8();
  put(report, "hdop", reader.u8() / 10, "dilution");
  readInputs(report, reader.u8());
  report.attributes.unitStatus = reader.u8();
  return { time, valid: (status & 8) === 0, latitude, longitude, altitude, speed: within(speed), course };
}

/** A speed, or an altitude in metres, that no tracker can have is a damaged one. */
function within(value: number): number | undefined {
  return Math.abs(value) <= 100_000 ? value : undefined;
}

/** Number of accumulators, a spare byte, and four bytes of each. */
function readAccumulators(reader: Reader, report: Draft): void {
  const count = Math.min(reader.u8() & 0x3f, mostAccumulators, Math.floor((reader.remaining - 1) / 4));
  reader.skip(1);
  for (let index = 0; index < count; index++) report.attributes[`accumulator${index}`] = reader.u32();
}

/** Type 2: location, event index and code, accumulators. */
const event = row("event report", 2, ({ body }) => {
  const report = draft();
  const position = readLocation(body, report);
  report.attributes.eventIndex = body.u8();
  report.attributes.event = body.u8();
  if (body.remaining >= 2) readAccumulators(body, report);
  return [fixOf(position, report)];
});

/** Type 4: location, and what a device at the serial port said. */
const userData = row("user data", 4, ({ body }) => {
  const report = draft();
  const position = readLocation(body, report);
  report.attributes.messageRoute = body.u8();
  report.attributes.messageId = body.u8();
  const length = Math.min(body.u16(), body.remaining);
  report.attributes.data = body.latin1(length).replaceAll(/[^ -~]/g, "");
  return [fixOf(position, report)];
});

/** Type 10: time, place, heading, speed in km/h, satellites, inputs, event code, accumulators. */
const miniEvent = row("mini event report", 10, ({ body }) => {
  const report = draft();
  const time = body.u32() * 1000;
  const latitude = body.i32() / 1e7;
  const longitude = body.i32() / 1e7;
  const course = body.u16();
  const speed = body.u8();
  const fix = body.u8();
  put(report, "satellites", fix & 0x0f, "satellitesUsed");
  report.attributes.commState = body.u8();
  readInputs(report, body.u8());
  report.attributes.event = body.u8();
  if (body.remaining >= 2) readAccumulators(body, report);
  return [fixOf({ time, valid: (fix & 0x20) === 0, latitude, longitude, speed, course }, report)];
});

/** Bytes of a location, and of the number of accumulators and the spare byte behind it. */
const locateLength = 38;

/** Type 8: location, accumulators: the answer to a unit request. */
const locate = row("locate report", 8, ({ body }) => {
  if (body.remaining < locateLength) return [{ type: "ignored", reason: "locate report without a location" }];
  const report = draft();
  const position = readLocation(body, report);
  readAccumulators(body, report);
  return [fixOf(position, report)];
});

/** Messages whose content is what the installation made it: it is kept in hex. */
function kept(name: string, type: number, attribute: string): MessageRow<Session> {
  return row(name, type, ({ body }) => {
    const report = draft();
    if (body.remaining > 0) report.attributes[attribute] = body.hex(body.remaining);
    return [readingsOrNothing(report, name)];
  });
}

/** Messages that only want their acknowledgement. */
function passed(name: string, type: number): MessageRow<Session> {
  return row(name, type, () => [{ type: "ignored", reason: name }]);
}

/** An options header with a mobile ID of a few BCD bytes and its type, one byte of 0 to 7. */
function detect(bytes: Uint8Array): Certainty {
  const [options = 0, length = 1] = bytes;
  if ((options & 0xc3) !== 0x83 || length < 1 || length > 10) return "no";
  const head = bytes.subarray(2 + length, 6 + length);
  const [size, kind, service, type] = head;
  const fits = (size ?? 1) === 1 && (kind ?? 0) <= 7 && (service ?? 0) <= 2 && (type ?? 0) <= 10;
  return fits ? "maybe" : "no";
}

/** LMU trackers of CalAmp, over UDP: LM Direct. */
export const calamp = defineProtocol<Session>({
  id: "calamp",
  title: "CalAmp LM Direct",
  transports: ["udp"],
  defaultPort: 20500,
  manuals: [{ title: "CalAmp LM Direct Reference Guide" }],
  detect,
  framer: {
    maximum,
    next: (buffer, offset) =>
      buffer.length > offset
        ? buffer.length - offset <= maximum
          ? frame(offset, buffer.length)
          : skip(maximum, "longer than a datagram")
        : more,
  },
  session: Object.freeze({ id: undefined }),
  classify: (bytes) => open(bytes).type,
  messages: [
    event,
    userData,
    miniEvent,
    passed("null message", 0),
    passed("ID report", 3),
    kept("application data", 5, "applicationData"),
    passed("configuration parameter", 6),
    passed("unit request", 7),
    locate,
    kept("user data with accumulators", 9, "userData"),
  ],
});
