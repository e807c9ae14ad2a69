import type { CommandForm } from "../../wire/protocol.ts";
import { Writer } from "../../wire/writer.ts";
import { seal } from "./envelope.ts";
import type { Session } from "./session.ts";

/** What the one-byte packet length leaves for the text: 255 less number, length, server flag, serial number and checksum. */
const longest = 245;

/** Server command 0x80 (GT06 v1.8.1, 6.1): length of flag and text, server flag 0, the text of an SMS command. */
export const serverCommand: CommandForm<Session> = {
  name: "0x80",
  encode: (text) => {
    if (text.length === 0) return { refused: "an empty command" };
    if (text.length > longest) return { refused: `a command of more than ${longest} characters` };
    if (!/^[\x20-\x7e]*$/.test(text)) return { refused: "a command takes printable ASCII characters only" };
    const content = new Writer(text.length + 5)
      .u8(4 + text.length)
      .u32(0)
      .latin1(text);
    return seal(0x80, 0, content.done());
  },
};
