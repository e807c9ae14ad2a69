import type { Effect, Fix } from "../../src/model/effects.ts";
import { xor8 } from "../../src/wire/checksums.ts";
import { type Framer, frame, more, skip } from "../../src/wire/framing.ts";
import { type AnyProtocol, defineProtocol, type Protocol, type SimulatedReport } from "../../src/wire/protocol.ts";
import { bytesOfLatin1, Reader } from "../../src/wire/reader.ts";
import { Writer } from "../../src/wire/writer.ts";

/**
 * A small invented protocol that has one of everything, so that the contract suite and the tools around protocols can
 * be tested on their own. Frame: 0x24, length of the body, type, body, exclusive or of all before. Types: 1 login
 * (identifier as text), 2 reports, 3 heartbeat, 0x80 command and its answer.
 */
export interface SampleSession {
  readonly logins: number;
}

const start = 0x24;

const framer: Framer = {
  maximum: 300,
  next(buffer, offset) {
    if (buffer[offset] !== start) {
      const found = buffer.indexOf(start, offset);
      return skip((found < 0 ? buffer.length : found) - offset, "no start");
    }
    const length = buffer[offset + 1];
    if (length === undefined) return more;
    const end = offset + length + 4;
    return end > buffer.length ? more : frame(offset, end);
  },
};

function wrap(type: number, body: Uint8Array): Uint8Array {
  const bytes = new Writer().u8(start).u8(body.length).u8(type).raw(body).u8(0).done();
  bytes[bytes.length - 1] = xor8(bytes, 0, bytes.length - 1);
  return bytes;
}

/** Whether a frame's checksum holds; the sample's handlers ask it first. */
function sound(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && xor8(bytes, 0, bytes.length - 1) === bytes[bytes.length - 1];
}

const badChecksum: readonly Effect[] = [{ type: "failure", cause: "badChecksum" }];
const malformed: readonly Effect[] = [{ type: "failure", cause: "malformed" }];

function body(bytes: Uint8Array): Reader {
  return new Reader(bytes, 3, bytes.length - 1);
}

function readFix(reader: Reader): Fix | undefined {
  const time = reader.u32() * 1000;
  const latitude = reader.i32() / 1e6;
  const longitude = reader.i32() / 1e6;
  const speed = reader.u16() / 10;
  const course = reader.u16() / 100;
  const ignition = reader.u8() === 1;
  if (course > 360) return undefined;
  const readings = { ignition };
  return { type: "fix", time, valid: true, latitude, longitude, speed, course, alarms: [], readings, attributes: {} };
}

function writeReports(reports: readonly SimulatedReport[]): Uint8Array {
  const body = new Writer();
  for (const report of reports)
    body
      .u32(report.time / 1000)
      .i32(Math.round(report.latitude * 1e6))
      .i32(Math.round(report.longitude * 1e6))
      .u16(Math.round(report.speed * 10))
      .u16(Math.round(report.course * 100))
      .u8(report.ignition ? 1 : 0);
  return wrap(2, body.done());
}

/** The definition, open so that tests can break it on purpose. */
export const sampleDefinition: Protocol<SampleSession> = {
  id: "sample",
  title: "Sample",
  transports: ["tcp", "udp"],
  defaultPort: 1,
  manuals: [{ title: "Constructed", version: "1" }],
  detect: (bytes) => (bytes[0] !== start ? "no" : bytes.length < 3 ? "maybe" : "sure"),
  framer,
  session: Object.freeze({ logins: 0 }),
  classify: (bytes) => bytes[2],
  messages: [
    {
      name: "login",
      keys: [1],
      handle(bytes, session) {
        if (!sound(bytes)) return { session, effects: badChecksum };
        const reader = body(bytes);
        const id = reader.latin1(reader.remaining);
        const reply = wrap(1, new Uint8Array(0));
        return {
          session: { logins: session.logins + 1 },
          effects: [
            { type: "identify", ids: [id] },
            { type: "reply", bytes: reply, when: "identified" },
          ],
        };
      },
    },
    {
      name: "reports",
      keys: [2],
      handle(bytes, session, context) {
        if (!sound(bytes)) return { session, effects: badChecksum };
        if (!context.identified) return { session, effects: [{ type: "failure", cause: "notIdentified" }] };
        const reader = body(bytes);
        const effects: Effect[] = [];
        while (reader.remaining > 0) {
          const fix = readFix(reader);
          if (fix === undefined) return { session, effects: malformed };
          effects.push(fix);
        }
        effects.push({ type: "reply", bytes: wrap(2, Uint8Array.of(effects.length)), when: "stored" });
        return { session, effects };
      },
    },
    {
      name: "heartbeat",
      keys: [3],
      handle(bytes, session) {
        if (!sound(bytes)) return { session, effects: badChecksum };
        const battery = body(bytes).u8();
        if (battery > 100) return { session, effects: malformed };
        return { session, effects: [{ type: "readings", alarms: [], readings: { battery }, attributes: {} }] };
      },
    },
    {
      name: "answer",
      keys: [0x80],
      handle(bytes, session) {
        if (!sound(bytes)) return { session, effects: badChecksum };
        const reader = body(bytes);
        return { session, effects: [{ type: "commandResult", text: reader.latin1(reader.remaining) }] };
      },
    },
  ],
  commands: [
    {
      name: "text",
      encode: (text) => (text.length > 255 ? { refused: "longer than 255 bytes" } : wrap(0x80, bytesOfLatin1(text))),
    },
  ],
  simulate: {
    login: (device) => wrap(1, bytesOfLatin1(device)),
    report: (_, reports) => writeReports(reports),
    answer(bytes) {
      const length = bytes[1];
      if (length === undefined || bytes.length < length + 4) return "more";
      return { length: length + 4, accepted: true, reports: length === 0 ? 0 : (bytes[3] ?? 0) };
    },
  },
};

/** The invented protocol. */
export const sample: AnyProtocol = defineProtocol(sampleDefinition);
