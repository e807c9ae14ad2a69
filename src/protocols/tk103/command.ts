import type { CommandForm, ExpectedReply } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import type { Tk103Session } from "./session.ts";

/** Longest command: the trackers take a text of an SMS. */
const maximumText = 160;

/**
 * `(013612345678AV010)`: a text that begins with a command's code is that command and its body, `AV010` (KX402, 2.2).
 * Any other is one of the texts of an SMS that trackers with messages of fields take, `[begin]sms2,*getposl*,[end]`.
 */
export const command: CommandForm<Tk103Session> = {
  name: "command",
  encode(text, session, device) {
    if (text.length > maximumText) return { refused: `longer than ${maximumText} characters` };
    if (!/^[\x20-\x7e]+$/.test(text) || /[()[\]]/.test(text))
      return { refused: "a command is printable ASCII without brackets, which mark its ends" };
    if (!/^[A-Z]{2}\d\d/.test(text)) return bytesOfLatin1(`[begin]sms2,${text},[end]`);
    const id = session.id ?? device;
    return id === "" ? { refused: "the device's identifier is not known" } : bytesOfLatin1(`(${id}${text})`);
  },
};

/** Commands that a position answers, and answers of the server. */
const unanswered: ReadonlySet<string> = new Set(["AP00", "AP01", "AP05", "AR00", "AR01", "AR02", "AS01"]);

/** An answer repeats its command's code with B for A. The text of a text command names nothing. */
export function expects(bytes: Uint8Array): ExpectedReply {
  const code = /^\(\d+(A[A-Z]\d\d)/.exec(latin1Of(bytes))?.[1];
  if (code === undefined) return {};
  return unanswered.has(code) ? "nothing" : { name: code };
}
