import type { CommandForm, ExpectedReply } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { seal, type TotemSession } from "./sentence.ts";

/** Longest command: the trackers take a text of an SMS. */
const maximumText = 160;

/**
 * `000000,025,C,1` (password, number, parameters), with or without the `*` and `#` that it has in an SMS. Trackers of
 * the hex form take the text of an SMS, others a message of the type CF.
 */
export const command: CommandForm<TotemSession> = {
  name: "command",
  encode(text, { form }) {
    if (text.length > maximumText) return { refused: `longer than ${maximumText} characters` };
    const bare = text.startsWith("*") && text.endsWith("#") && text.length > 1 ? text.slice(1, -1) : text;
    if (!/^[\x20-\x7e]+$/.test(bare) || /[*#$]/.test(bare))
      return { refused: "a command is printable ASCII without *, # and $, which mark its ends" };
    return form === "hex" ? bytesOfLatin1(`*${bare}#`) : seal(`CF${bare}`);
  },
};

/** An AVL names the command that it answers by its number. */
export function expects(bytes: Uint8Array): ExpectedReply {
  const name = /^\*[^,]*,(\d{3})\b/.exec(latin1Of(bytes))?.[1];
  return name === undefined ? {} : { name };
}
