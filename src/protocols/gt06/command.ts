import type { CommandForm, ExpectedReply } from "../../wire/protocol.ts";
import { Writer } from "../../wire/writer.ts";
import { classify, open, seal } from "./envelope.ts";
import type { Session } from "./session.ts";

/**
 * What the one-byte packet length leaves for the text: 255 less number, length, server flag, serial number and
 * checksum.
 */
const longest = 245;

/**
 * Server command 0x80 (GT06 v1.8.1, 6.1): length of flag and text, a server flag that the answer repeats, the text of
 * an SMS command.
 */
export const serverCommand: CommandForm<Session> = {
  name: "0x80",
  encode: (text, _session, _device, mark) => {
    if (text.length === 0) return { refused: "an empty command" };
    if (text.length > longest) return { refused: `a command of more than ${longest} characters` };
    if (!/^[\x20-\x7e]*$/.test(text)) return { refused: "a command takes printable ASCII characters only" };
    const content = new Writer(text.length + 5)
      .u8(4 + text.length)
      .u32(mark)
      .latin1(text);
    return seal(0x80, 0, content.done());
  },
};

/**
 * What the answer to a command of this server flag is called. 0 is what commands without a mark have, and clones that
 * do not repeat it.
 */
export function nameOfFlag(flag: number): { readonly name?: string } {
  return flag === 0 ? {} : { name: flag.toString(16) };
}

/** An answer repeats its command's flag; of other bytes nobody knows what a tracker says to them. */
export function expects(bytes: Uint8Array): ExpectedReply {
  if (classify(bytes) !== 0x80) return {};
  const message = open(bytes);
  if (message === undefined || message.size < 5) return {};
  message.reader.skip(1);
  return nameOfFlag(message.reader.u32());
}
