import type { CommandForm, ExpectedReply } from "../../wire/protocol.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { sentenceOf } from "./sentence.ts";
import { type H02Session, timeOfDay } from "./session.ts";

const asterisk = 0x2a;

/** Longest command: the manuals' longest has an APN, user and password. */
const maximumText = 200;

/**
 * `*XX,identifier,CMD,HHMMSS,PARA1,...#`: the text is the command and its parameters, such as `S20,1,1` (cut the
 * engine), `SCF,0,0` (arm), `S71,22,10` (interval), `R1`, `D1,10`. The time only marks the command, so the tracker's
 * last message may give it. (Protocol, 2)
 */
export const command: CommandForm<H02Session> = {
  name: "command",
  encode(text, session, device) {
    if (text.length > maximumText) return { refused: `longer than ${maximumText} characters` };
    if (!/^[A-Z][A-Z0-9]{0,9}(,[!-~]*)?$/.test(text))
      return { refused: "a command is capitals and digits, then parameters after commas, without blanks" };
    if (/[*#$]/.test(text)) return { refused: "*, # and $ mark a message's ends" };
    const id = session.id ?? device;
    if (id === "") return { refused: "the device's identifier is not known" };
    const comma = text.indexOf(",");
    const name = comma < 0 ? text : text.slice(0, comma);
    const parameters = comma < 0 ? "" : text.slice(comma);
    return bytesOfLatin1(`*${session.maker},${id},${name},${timeOfDay(session.heardAt)}${parameters}#`);
  },
};

/**
 * A confirmation names its command: `V4,S20,...`. What is no sentence may be answered by a text, which names nothing.
 */
export function expects(bytes: Uint8Array): ExpectedReply {
  const name = bytes[0] === asterisk ? sentenceOf(bytes)?.name : undefined;
  return name ? { name } : {};
}
