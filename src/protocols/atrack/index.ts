import { type DecodeContext, type Decoded, defineProtocol } from "../../wire/protocol.ts";
import { Reader } from "../../wire/reader.ts";
import { readAnswer, readInfo } from "./answer.ts";
import { readBinary } from "./binary.ts";
import { command } from "./command.ts";
import {
  type AtrackSession,
  acknowledgement,
  binaryEnvelope,
  handler,
  initialSession,
  type ReadBody,
  textEnvelope,
} from "./envelope.ts";
import { at, detect, dollar, framer, keepAliveLength, keepAlivePrefix, textHead } from "./framer.ts";
import { simulate } from "./simulate.ts";
import { readText } from "./text.ts";

/** Second byte of the prefix of a picture. */
const pictureLetter = 0x52;
const infoText = new TextEncoder().encode("$INFO=");

/** A part of a picture: its time, number, how many there are, and bytes. */
const readPicture: ReadBody = (_frame, _envelope, { form }) => ({
  effects: [{ type: "ignored", reason: "a part of a picture" }],
  form,
});

/** Comes back as it is. (Protocol Document, 2.3) */
function keepAlive(frame: Uint8Array, session: AtrackSession, _context: DecodeContext): Decoded<AtrackSession> {
  const reader = new Reader(frame, keepAlivePrefix.length, keepAliveLength);
  const id = String(reader.u64Exact());
  const bytes = acknowledgement(id, reader.u16());
  const reply = { type: "reply", bytes, when: "identified" } as const;
  if (id === session.id) return { session, effects: [reply] };
  return { session: { ...session, id }, effects: [{ type: "identify", ids: [id] }, reply] };
}

function classify(frame: Uint8Array): string | undefined {
  const [first, second] = frame;
  if (first === keepAlivePrefix[0] && second === keepAlivePrefix[1])
    return frame.length === keepAliveLength ? "keepAlive" : undefined;
  if (first === dollar) return infoText.every((byte, index) => frame[index] === byte) ? "info" : "answer";
  if (textHead(frame) !== undefined) return "text";
  if (first !== at) return undefined;
  return second === pictureLetter ? "picture" : "binary";
}

/** Trackers of ATrack: AK, AL, AS, AT, AU, AX, AY. */
export const atrack = defineProtocol<AtrackSession>({
  id: "atrack",
  title: "ATrack",
  transports: ["tcp", "udp"],
  defaultPort: 5044,
  manuals: [
    { title: "ATrack Standard Product (SP) Protocol Document", version: "1.5.2" },
    { title: "ATrack Advanced Product (AP) Protocol Document", version: "1.3.8" },
  ],
  detect,
  framer,
  datagram: framer,
  session: initialSession,
  classify,
  messages: [
    { name: "position, ASCII", keys: ["text"], handle: handler(textEnvelope, readText) },
    { name: "position, binary", keys: ["binary"], handle: handler(binaryEnvelope, readBinary) },
    { name: "picture", keys: ["picture"], handle: handler(binaryEnvelope, readPicture) },
    { name: "keep-alive", keys: ["keepAlive"], handle: keepAlive },
    { name: "information of the unit", keys: ["info"], handle: readInfo },
    { name: "answer to a command", keys: ["answer"], handle: readAnswer },
  ],
  commands: [command],
  simulate,
});
