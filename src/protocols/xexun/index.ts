import type { Effect } from "../../model/effects.ts";
import { type CommandForm, type Decoded, defineProtocol } from "../../wire/protocol.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { detect, framer, indexOfText, sentenceName } from "./framer.ts";
import { defect, messageOf } from "./message.ts";
import { reportOf } from "./report.ts";
import { simulate } from "./simulate.ts";

/** What a connection said before. */
interface Session {
  /** IMEI of its last message; undefined: none had one. */
  readonly imei: string | undefined;
}

function handle(
  frame: Uint8Array,
  session: Session,
  { options }: { readonly options: { readonly checksums?: "ignore" } },
): Decoded<Session> {
  const message = messageOf(frame);
  const found = message === undefined ? "malformed" : defect(frame, message);
  if (message === undefined || found === "malformed") return failed(session, { type: "failure", cause: "malformed" });
  const { imei } = message;
  if (found === "badChecksum" && options.checksums !== "ignore")
    return failed(session, { type: "failure", cause: found, ids: [imei] });
  const report = reportOf(message);
  if (report === undefined) return failed(session, { type: "failure", cause: "malformed" });
  const effects: readonly Effect[] = [report];
  if (imei === session.imei) return { session, effects };
  return { session: { imei }, effects: [{ type: "identify", ids: [imei] }, ...effects] };
}

function failed(session: Session, effect: Effect): Decoded<Session> {
  return { session, effects: [effect] };
}

/** Longest command: the trackers take a text of an SMS. */
const maximumText = 160;

/** `powercar123456 11`: a text of an SMS, with the tracker's password in it. */
const command: CommandForm<Session> = {
  name: "text of an SMS",
  encode(text) {
    if (text.length > maximumText) return { refused: `longer than ${maximumText} characters` };
    if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)) return { refused: "a command is printable ASCII" };
    return text.includes("imei:") ? { refused: "imei: marks a message" } : bytesOfLatin1(text);
  },
};

/** Trackers of Xexun (TK102, TK103, XT009) and those that speak as they do: NMEA's sentence RMC and an IMEI. */
export const xexun = defineProtocol<Session>({
  id: "xexun",
  title: "Xexun TK102, TK103",
  transports: ["tcp"],
  defaultPort: 5006,
  speedUnit: "kn",
  manuals: [{ title: "Xexun, Communication protocol: GPRS format" }],
  detect,
  framer,
  session: Object.freeze({ imei: undefined }),
  classify: (frame) => (indexOfText(frame, sentenceName, 0, frame.length) >= 0 ? "sentence" : "none"),
  messages: [
    { name: "RMC with IMEI", keys: ["sentence"], handle },
    { name: "IMEI without a sentence", keys: ["none"], handle },
  ],
  commands: [command],
  expects: () => "nothing",
  simulate,
});
