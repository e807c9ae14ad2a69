import { type Certainty, defineProtocol } from "../../wire/protocol.ts";
import { latin1Of } from "../../wire/reader.ts";
import { command, expects } from "./command.ts";
import { framer } from "./framer.ts";
import { classify, rows } from "./rows.ts";
import { initialSession, type Tk103Session } from "./session.ts";
import { simulate } from "./simulate.ts";

function detect(bytes: Uint8Array): Certainty {
  const text = latin1Of(bytes.subarray(0, 28));
  if (/^\(\d{6,20},?[BDZ][A-Z][0-9A-Z]{2}/.test(text)) return "sure";
  return /^\((?:\d{0,20}|\d{6,20},?(?:[BDZ](?:[A-Z][0-9A-Z]?)?)?)$/.test(text) ? "maybe" : "no";
}

/** Trackers that speak as TK103-B and KX402 do, of many makers: messages in brackets, without commas or with fields. */
export const tk103 = defineProtocol<Tk103Session>({
  id: "tk103",
  title: "TK103-B, KX402 and others",
  transports: ["tcp", "udp"],
  defaultPort: 5002,
  manuals: [{ title: "KX402 GPRS Communication Protocol", version: "1.5" }],
  detect,
  framer,
  datagram: framer,
  session: initialSession,
  classify,
  messages: rows,
  commands: [command],
  expects,
  simulate,
});
