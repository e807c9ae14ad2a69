import type { Effect } from "../../model/effects.ts";
import type { MessageRow } from "../../wire/protocol.ts";
import { draft, fixOf, readingsOrNothing } from "../../wire/report.ts";
import { Writer } from "../../wire/writer.ts";
import { readCell } from "./cells.ts";
import { acknowledgement, open, openUnchecked, seal } from "./envelope.ts";
import { gpsSize, readGps } from "./gps.ts";
import { cellSize } from "./location.ts";
import { type Handler, row, silent } from "./row.ts";
import { initial, type Session } from "./session.ts";
import { bare } from "./unsealed.ts";

const minute = 60_000;

/** Zone in the upper 12 bits as hours * 100 + minutes, bit 3 west (JM-VL03 v1.1.2, login packet). ms east of UTC. */
export function zoneOf(extension: number): number {
  const hundreds = extension >> 4;
  const offset = (Math.floor(hundreds / 100) * 60 + (hundreds % 100)) * minute;
  return extension & 0x08 ? -offset + 0 : offset;
}

/** The IMEI of eight bytes of digits: 15 behind a zero. Clones fill all 16, of which the last 15 are the IMEI. */
function identifiers(hex: string): readonly string[] {
  const imei = hex.slice(1);
  return hex.startsWith("0") ? [imei] : [hex, imei];
}

/**
 * 0x01: terminal number; type; zone and language. It begins the session anew.
 * This one row needs no known device, so it opens its frame itself.
 */
const login: MessageRow<Session> = {
  name: "login",
  keys: [0x01],
  handle: (frame, _session, context) => {
    const message = open(frame, context.options);
    // Of a login that can't be read, nobody knows the zone, and that of an earlier one is over.
    if (message === undefined) {
      const claimed = openUnchecked(frame)?.reader.hex(8) ?? "";
      return { session: initial, effects: [{ type: "failure", cause: "badChecksum", ids: identifiers(claimed) }] };
    }
    const ids = identifiers(message.reader.hex(8));
    const next: { zone?: number } = {};
    if (message.size >= 12) {
      message.reader.skip(2);
      next.zone = zoneOf(message.reader.u16());
    }
    return {
      session: next,
      effects: [
        { type: "identify", ids },
        { type: "reply", bytes: acknowledgement(message.type, message.serial), when: "identified" },
      ],
    };
  },
};

/** 0x01 without serial number: a reserved byte for the length, the IMEI, a version (ZhongXun Topin 180612). */
const bareLogin: MessageRow<Session> = {
  name: "login (Topin)",
  keys: [bare | 0x01],
  handle: (frame) => ({
    session: { bare: true },
    effects: [
      { type: "identify", ids: identifiers(frame.subarray(4, 12).toHex()) },
      { type: "reply", bytes: Uint8Array.of(0x78, 0x78, 0x01, 0x01, 0x0d, 0x0a), when: "identified" },
    ],
  }),
};

/** 0x8A: the tracker asks for the time (JM-VL03 v1.1.2); UTC, at whole seconds of its arrival. */
const clock: Handler = (message, session, context) => {
  const now = new Date(context.receivedAt);
  const date = new Writer(6)
    .u8(now.getUTCFullYear() - 2000)
    .u8(now.getUTCMonth() + 1)
    .u8(now.getUTCDate())
    .u8(now.getUTCHours())
    .u8(now.getUTCMinutes())
    .u8(now.getUTCSeconds());
  return {
    session,
    effects: [
      { type: "ignored", reason: "time request" },
      { type: "reply", bytes: seal(message.type, message.serial, date.done()), when: "identified" },
    ],
  };
};

/** What an address request is answered with: no alarm, no address, no telephone number (JM-VL03 v1.1.2, 0x97). */
const noAddress = "NA&&NA&&0##";

function addressAnswer(): Effect {
  const content = new Writer(16).u8(noAddress.length).u32(0).latin1(noAddress).done();
  return { type: "reply", bytes: seal(0x97, 0, content, true), when: "stored" };
}

/**
 * 0x2A: a telephone number asks for the address of a place, which this service does not look up; the place is a
 * location.
 */
const address: Handler = (message, session) => {
  const report = draft();
  const position = readGps(message.reader, report);
  return silent(session, fixOf(position, report), addressAnswer());
};

/** 0x17: as 0x2A, with a cell for the place. */
const addressOfCell: Handler = (message, session) => {
  const report = draft();
  readCell(message.reader, report, cellSize);
  return silent(session, readingsOrNothing(report, "address request"), addressAnswer());
};

/** Telephone number, alarm and language behind the place of an address request. */
const requestTail = 23;

/** What a connection begins with and what the tracker asks the server for. */
export const loginRows: readonly MessageRow<Session>[] = [
  login,
  bareLogin,
  row("time request", [0x8a], clock),
  row("address request", [0x2a], address, (size) => size === gpsSize + requestTail),
  row("address request (cell)", [0x17], addressOfCell, (size) => size === cellSize + requestTail),
];
