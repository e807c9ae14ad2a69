import { type Certainty, defineProtocol } from "../../wire/protocol.ts";
import { draft, readingsOf } from "../../wire/report.ts";
import { command, expects, parameterType, readParameter } from "./command.ts";
import { readEvent } from "./event.ts";
import { framer, startOf } from "./framer.ts";
import { handler, initialSession, type Read, type StarlinkSession, sentenceOf } from "./sentence.ts";
import { simulate } from "./simulate.ts";

/** Most characters that are kept of a message that is not taken apart. */
const mostKept = 256;

function detect(bytes: Uint8Array): Certainty {
  const start = startOf(bytes, 0);
  return start === "whole" ? "sure" : start === "part" ? "maybe" : "no";
}

/** 02: an error of the unit. What its fields mean is not public, so they are kept as they are. */
const readError: Read = ({ fields }) => keptAs("error", fields.join(","));

/** Any other type, with its number. */
const readOther: Read = ({ type, fields }) => keptAs("message", [type, ...fields].join(","));

function keptAs(name: string, text: string) {
  const report = draft();
  report.attributes[name] = text.slice(0, mostKept);
  return { effects: [readingsOf(report)] };
}

/** StarLink trackers of ERM Advanced Telematics. */
export const starlink = defineProtocol<StarlinkSession>({
  id: "starlink",
  speedUnit: "kn",
  title: "StarLink (ERM)",
  transports: ["tcp"],
  defaultPort: 5084,
  manuals: [{ title: "ERM StarLink protocol, as public descriptions and decoders have it" }],
  detect,
  framer,
  session: initialSession,
  classify: (frame) => sentenceOf(frame)?.type,
  messages: [
    { name: "06 event report", keys: ["06"], handle: handler(readEvent) },
    { name: "02 error report", keys: ["02"], handle: handler(readError) },
    { name: "03 parameter", keys: [parameterType], handle: handler(readParameter) },
    { name: "other message", handle: handler(readOther) },
  ],
  commands: [command],
  expects,
  simulate,
});
