import type { Effect } from "../../model/effects.ts";
import {
  type Certainty,
  type CommandForm,
  type DecodeContext,
  type Decoded,
  defineProtocol,
} from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { framer } from "./framer.ts";
import { malformed, readLocation } from "./location.ts";
import { readEmergency, readHealth, readLogin } from "./others.ts";
import { kindOf, type Sentence, sentenceOf } from "./sentence.ts";
import { simulate } from "./simulate.ts";

/** What a connection said before: the identifier of its last message. */
interface ItsSession {
  readonly id: string | undefined;
}

const dollar = 0x24;
const comma = 0x2c;
const equals = 0x3d;
/** The IMEI has come by then. */
const longestHead = 150;

function detect(bytes: Uint8Array): Certainty {
  if (bytes[0] !== dollar || bytes[1] === dollar || startsLikeStarLink(bytes)) return "no";
  // `$NAME=` is what other makers' trackers answer to a command.
  const end = bytes.indexOf(comma);
  if (bytes.subarray(0, end < 0 ? bytes.length : end).includes(equals)) return "no";
  const kind = kindOf(bytes);
  if (kind !== undefined) return kind === "other" ? "maybe" : "sure";
  const head = bytes.subarray(1, longestHead);
  return head.length < longestHead - 1 && head.every((byte) => byte >= 0x20 && byte < 0x7f) ? "maybe" : "no";
}

/** `$SLU`: the reports of a StarLink tracker may have the IMEI among their fields too. */
function startsLikeStarLink(bytes: Uint8Array): boolean {
  return latin1Of(bytes.subarray(1, 4)) === "SLU";
}

type Read = (sentence: Sentence, context: DecodeContext) => readonly Effect[];

function handler(read: Read) {
  return (frame: Uint8Array, session: ItsSession, context: DecodeContext): Decoded<ItsSession> => {
    const sentence = sentenceOf(frame);
    const effects = sentence === undefined ? malformed : read(sentence, context);
    if (sentence === undefined || effects === malformed) return { session, effects: malformed };
    const { imei } = sentence;
    if (imei === session.id) return { session, effects };
    return { session: { id: imei }, effects: [{ type: "identify", ids: [imei] }, ...effects] };
  };
}

function reply(text: string, when: "identified" | "stored"): Effect {
  return { type: "reply", bytes: bytesOfLatin1(text), when };
}

/** `ddmmyyyyhhmmss`. */
function clockText(time: number): string {
  const [year, month, day, ...clock] = new Date(time).toISOString().slice(0, 19).split(/[-T:]/);
  return [day, month, year, ...clock].join("");
}

/** Login: trackers whose start character stands apart wait for an answer (Wetrack140: the time). */
const login: Read = (sentence, { receivedAt }) => {
  const effects = readLogin(sentence);
  const [header] = sentence.head;
  if (sentence.apart && header === "LGN") return [...effects, reply(`$LGN${clockText(receivedAt)}*`, "identified")];
  return sentence.apart && header === "01" ? [...effects, reply("$,1,*", "identified")] : effects;
};

/** Health: `$,HBT` is answered (Wetrack140). */
const health: Read = (sentence) => {
  const effects = readHealth(sentence);
  return sentence.apart && sentence.head[0] === "HBT" ? [...effects, reply("$HBT*", "stored")] : effects;
};

/**
 * `SET key:value`, `GET key` and `CLR key` (AIS-140, 3.1.3; VT140 1.0, 3), and what other makers put in their place,
 * as they are.
 */
const command: CommandForm<ItsSession> = {
  name: "command",
  encode(text) {
    if (text.length > 512) return { refused: "longer than 512 characters" };
    return /^[\x20-\x7e]+$/.test(text) && !/[$*]/.test(text)
      ? bytesOfLatin1(text)
      : { refused: "a command is printable ASCII without $ and *, which mark a message's ends" };
  },
};

/**
 * India's AIS-140: sentences that begin with `$`, whose fields the standard names and whose order and ends each
 * maker chooses.
 */
export const its = defineProtocol<ItsSession>({
  id: "its",
  title: "AIS-140 (iTriangle, Roadpoint, Wetrack140, VT140 and others)",
  transports: ["tcp", "udp"],
  defaultPort: 5179,
  manuals: [
    { title: "AIS-140, Intelligent Transportation Systems", version: "2016" },
    { title: "VT140 AIS140 Communications Protocol", version: "V1.0" },
  ],
  detect,
  framer,
  datagram: framer,
  session: Object.freeze({ id: undefined }),
  classify: kindOf,
  messages: [
    { name: "location or alert", keys: ["location"], handle: handler(readLocation) },
    { name: "EPB, emergency", keys: ["emergency"], handle: handler(readEmergency) },
    { name: "health", keys: ["health"], handle: handler(health) },
    { name: "login", keys: ["login"], handle: handler(login) },
    {
      name: "other message",
      keys: ["other"],
      handle: handler(() => [{ type: "ignored", reason: "not one of the standard's messages" }]),
    },
  ],
  commands: [command],
  simulate,
});
