import type { Effect } from "../../model/effects.ts";
import { defineProtocol, type MessageRow } from "../../wire/protocol.ts";
import { latin1Of } from "../../wire/reader.ts";
import { draft, readingsOf } from "../../wire/report.ts";
import { command, expects } from "./command.ts";
import { acknowledge, detect, framer, isVariant, type Message, open, types } from "./frames.ts";
import { readExtended, readModules } from "./modules.ts";
import { readStatus, readVariant } from "./status.ts";

interface Session {
  /** Number of the unit; undefined before the first message. */
  readonly id: number | undefined;
}

/** Bytes in front of the data of types 7 and 8, behind the number of the message. */
const loggedHead = 0;
const forwardedHead = 8;

/** A row for a type: says who it is from where that is new, and acknowledges. */
function row(
  name: string,
  type: number,
  read: (message: Message) => readonly Effect[],
  when?: (bytes: Uint8Array) => boolean,
): MessageRow<Session> {
  return {
    name,
    keys: [type],
    ...(when && { when }),
    handle(bytes, session, { options }) {
      const message = open(bytes);
      if (message === undefined) return { session, effects: [{ type: "failure", cause: "malformed" }] };
      const { id, sound } = message;
      const ids = [String(id)];
      if (!sound && options.checksums !== "ignore")
        return { session, effects: [{ type: "failure", cause: "badChecksum", ids }] };
      const effects: Effect[] = [...read(message), { type: "reply", bytes: acknowledge(message), when: "stored" }];
      if (session.id === id) return { session, effects };
      return { session: { id }, effects: [{ type: "identify", ids }, ...effects] };
    },
  };
}

/** Type 3: a reserved byte, a block of the unit's memory, its 16 bytes after they were programmed. */
function readProgramming({ body }: Message): readonly Effect[] {
  body.skip(1);
  const block = body.u8();
  return [{ type: "commandResult", text: `block ${block}: ${body.hex(body.remaining)}`, to: "programming" }];
}

/** Types 7 and 8: what a device at the unit's serial port said, as text or hex. */
function readForwarded(head: number) {
  return ({ body }: Message): readonly Effect[] => {
    const report = draft();
    body.skip(head);
    const data = body.take(body.remaining);
    if (data.length === 0) return [{ type: "ignored", reason: "no data" }];
    const text = latin1Of(data);
    report.attributes.data = /^[\t\r\n -~]+$/.test(text) ? text.trim() : data.toHex();
    return [readingsOf(report)];
  };
}

/** Units of Cellocator (Pointer, PowerFleet): Cello, CelloTrack, CR200 to CR400, Cello-IQ. */
export const cellocator = defineProtocol<Session>({
  id: "cellocator",
  title: "Cellocator (MCGP)",
  transports: ["tcp", "udp"],
  defaultPort: 5024,
  manuals: [
    { title: "Cellocator Wireless Communication Protocol", version: "28.9" },
    { title: "Cellocator Integration: Practical Examples", version: "2012" },
  ],
  detect,
  framer,
  datagram: framer,
  session: Object.freeze({ id: undefined }),
  classify: (bytes) => bytes[4],
  messages: [
    row("type 0 under another system code", types.status, readVariant, isVariant),
    row("type 0, status and location", types.status, readStatus),
    row("type 3, programming status", types.programming, readProgramming),
    row("type 7, logged fragment of forwarded data", types.logged, readForwarded(loggedHead)),
    row("type 8, forwarded data", types.forwarded, readForwarded(forwardedHead)),
    row("type 9, modular message", types.modular, readModules),
    row("type 11, modular message", types.extended, readExtended),
  ],
  commands: [command],
  expects,
});
