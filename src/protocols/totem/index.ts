import { type Certainty, defineProtocol } from "../../wire/protocol.ts";
import { latin1Of } from "../../wire/reader.ts";
import { command, expects } from "./command.ts";
import { framer } from "./framer.ts";
import { classify, rows } from "./rows.ts";
import { initialSession, type TotemSession } from "./sentence.ts";
import { simulate } from "./simulate.ts";

function detect(bytes: Uint8Array): Certainty {
  const text = latin1Of(bytes.subarray(0, 28));
  if (/^\$\$(?:[1-9A-F][0-9A-F]\d{5,20}\||0\d{3}[0-9A-F]{2}\d{5})/.test(text) || /^\$U\d{15}/.test(text)) return "sure";
  if (/^\$(?:\$(?:[1-9A-F](?:[0-9A-F]\d{0,20})?|0\d{0,3}|0\d{3}[0-9A-F]{1,2}\d{0,5})?)?$/.test(text)) return "maybe";
  return /^\$U\d{0,15}$/.test(text) ? "maybe" : "no";
}

/** Trackers of Totem (AT03 to AT09) and the AVL trackers of TZ that speak like the first of them. */
export const totem = defineProtocol<TotemSession>({
  id: "totem",
  title: "Totem (AT05, AT07, AT09) and TZ-AVL",
  transports: ["tcp", "udp"],
  defaultPort: 5007,
  manuals: [
    { title: "Totem Vehicle GPS Tracker AT09 Protocol", version: "2.43" },
    { title: "TZ AVL02 User Guide", version: "1.5" },
    { title: "AVL-08 GPRS Data Protocol", version: "1.0.1" },
  ],
  detect,
  framer,
  datagram: framer,
  session: initialSession,
  classify,
  messages: rows,
  notUnderstood: ["images (AT09, 2.5)"],
  commands: [command],
  expects,
  simulate,
});
