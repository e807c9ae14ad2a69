import type { CommandForm, ExpectedReply } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { codeAt, contentOf, nameOf } from "./sentence.ts";
import type { Jt600Session } from "./session.ts";

/** Longest command: a list of the sensors that belong to a lock. */
const maximumText = 500;

/**
 * `(P43,888888)`: the text in brackets. A command to what is near a lock, `WLNET,8,1,1,5,E011223344`, has the lock's
 * identifier, a version and a serial number before it, `(8001234567,1,007,WLNET,8,...)`: a lock passes over one with
 * the number of the one before.
 */
export const command: CommandForm<Jt600Session> = {
  name: "command",
  encode(text, session, device, mark) {
    if (text.length > maximumText) return { refused: `longer than ${maximumText} characters` };
    if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) || /[()$]/.test(text))
      return { refused: "a command is printable ASCII without brackets and dollar signs, which mark messages" };
    if (!text.startsWith("WLNET,")) return bytesOfLatin1(`(${text})`);
    const id = session.id ?? device;
    if (id === "") return { refused: "the device's identifier is not known" };
    return bytesOfLatin1(`(${id},1,${String(mark % 1000).padStart(3, "0")},${text})`);
  },
};

/** Answers of the server. */
const confirmations: ReadonlySet<string> = new Set(["P35", "P69", "S20", "S39"]);

/** An answer repeats its command's word. */
export function expects(bytes: Uint8Array): ExpectedReply {
  const fields = latin1Of(contentOf(bytes)).split(",");
  const at = codeAt(fields);
  const code = fields[at] ?? "";
  return confirmations.has(code) ? "nothing" : { name: nameOf(code, fields[at + 1]) };
}
