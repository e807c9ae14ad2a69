import type { Effect } from "../../model/effects.ts";
import { type DecodeContext, type Decoded, defineProtocol, type MessageRow } from "../../wire/protocol.ts";
import { Reader } from "../../wire/reader.ts";
import {
  appData,
  classify,
  confirmation,
  detect,
  framer,
  open,
  packetOf,
  recordOf,
  response,
  signedAppData,
} from "./packet.ts";
import { authService, readRecord } from "./records.ts";

/** What a connection said before. */
interface Session {
  /** Identifier of the next packet of the server. */
  readonly next: number;
  /** The terminal has said who it is, so that the objects of its records are its own. */
  readonly named: boolean;
  /** Object of the last record, where these name the device. */
  readonly object: number | undefined;
}

const initial: Session = Object.freeze({ next: 0, named: false, object: undefined });

const failed =
  (cause: "badChecksum" | "notIdentified") =>
  (session: Session): Decoded<Session> => ({ session, effects: [{ type: "failure", cause }] });

/** EGTS_SR_RESULT_CODE "processed". */
const resultCode = 7;

/**
 * Records of a packet. Each is confirmed by a packet of its own; a terminal that said who it is is told that it may go
 * on.
 */
function readRecords(
  packet: Uint8Array,
  start: number,
  end: number,
  id: number,
  session: Session,
  context: DecodeContext,
): Decoded<Session> {
  const reader = new Reader(packet, start, end);
  let { next, named, object } = session;
  let known = context.identified;
  const effects: Effect[] = [];
  const replies: Effect[] = [];
  const answer = (type: number, data: Uint8Array, when: "now" | "identified" | "stored") => {
    replies.push({ type: "reply", bytes: packetOf(next, type, data), when });
    next = (next + 1) & 0xffff;
  };
  while (reader.remaining >= 7) {
    const record = readRecord(reader);
    if (record.identity !== undefined) {
      named = true;
      effects.push(record.identity);
    } else if (!named && record.object !== undefined && record.object > 0 && record.object !== object) {
      object = record.object;
      effects.push({ type: "identify", ids: [String(object)] });
    }
    known ||= named || object !== undefined;
    if (record.effects.length > 0 && !known) return failed("notIdentified")(session);
    effects.push(...record.effects);
    const isPlain = record.service === authService && record.effects.length === 0;
    const when = record.identity !== undefined ? "identified" : isPlain ? "now" : "stored";
    answer(response, confirmation(id, record.service, record.number), when);
    if (record.identity !== undefined)
      answer(appData, recordOf(authService, resultCode, Uint8Array.of(0)), "identified");
  }
  if (effects.length === 0) effects.push({ type: "ignored", reason: "nothing to store" });
  return { session: { next, named, object }, effects: [...effects, ...replies] };
}

type Content = (
  packet: Uint8Array,
  start: number,
  end: number,
  id: number,
  session: Session,
  context: DecodeContext,
) => Decoded<Session>;

function row(name: string, key: number, handle: Content): MessageRow<Session> {
  return {
    name,
    keys: [key],
    handle: (packet, session, context) => {
      const opened = open(packet, context.options.checksums === "ignore");
      if (opened === undefined) return failed("badChecksum")(session);
      return handle(packet, opened.start, opened.end, opened.id, session, context);
    },
  };
}

const messages: readonly MessageRow<Session>[] = [
  row("EGTS_PT_APPDATA", appData, readRecords),
  row("EGTS_PT_RESPONSE", response, (_packet, _start, _end, _id, session) => ({
    session,
    effects: [{ type: "ignored", reason: "confirmation" }],
  })),
  // A signature, after its length, stands before the records.
  row("EGTS_PT_SIGNED_APPDATA", signedAppData, (packet, start, end, id, session, context) => {
    const signature = (packet[start] ?? 0) | ((packet[start + 1] ?? 0) << 8);
    return readRecords(packet, Math.min(start + 2 + signature, end), end, id, session, context);
  }),
];

/** Terminals by Russia's standard, of ERA-GLONASS and others. */
export const egts = defineProtocol<Session>({
  id: "egts",
  title: "EGTS (ERA-GLONASS)",
  transports: ["tcp"],
  defaultPort: 5184,
  manuals: [
    { title: "GOST R 54619-2011, Protocols of data transmission between in-vehicle terminal and infrastructure" },
    { title: "GOST 33465-2015, Protocols of data exchange between in-vehicle device and infrastructure" },
  ],
  detect,
  framer,
  session: initial,
  classify,
  messages,
  notUnderstood: ["EGTS_SR_MODULE_DATA", "EGTS_SR_AUTH_PARAMS", "EGTS_SR_RAW_MSD_DATA", "EGTS_FIRMWARE_SERVICE"],
});
