import type { CommandForm, ExpectedReply } from "../../wire/protocol.ts";
import { bytesOfHex, bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { messageOf, wrapped } from "./envelope.ts";
import type { WatchSession } from "./rows.ts";

/** Longest command: a phone book, or some seconds of speech in hex. */
const maximumText = 60_000;

const voicePattern = /^TK,((?:[0-9a-f]{2})+)$/i;

/** The bytes that are escaped in a voice message: behind 0x7D the place in this list, from 1 on (part II, 25). */
const escapedBytes: readonly number[] = [0x7d, 0x5b, 0x5d, 0x2c, 0x2a];

/**
 * `[CS*8800000015*000A*UPLOAD,600]`: the text is the content, such as `UPLOAD,600`, `CR` (locate), `RESET`, `FIND`,
 * `SOS1,12345`. `TK,` and the hex of an AMR file is a voice message. The maker's letters are those of the tracker's own
 * messages.
 */
export const command: CommandForm<WatchSession> = {
  name: "command",
  encode(text, session, device) {
    if (text.length > maximumText) return { refused: `longer than ${maximumText} characters` };
    if (!/^[A-Za-z][\x20-\x7e]*$/.test(text))
      return { refused: "a command is a name and parameters after commas, in printable ASCII" };
    if (/[[\]]/.test(text)) return { refused: "[ and ] mark a message's ends" };
    const id = session.id ?? device;
    if (id === "") return { refused: "the device's identifier is not known" };
    const sender = { maker: session.maker, id, index: session.indexed ? "0001" : undefined };
    const voice = voicePattern.exec(text)?.[1];
    return bytesOfLatin1(wrapped(sender, voice === undefined ? text : `TK,${escapedText(voice)}`));
  },
};

function escapedText(hex: string): string {
  let text = "";
  for (const byte of bytesOfHex(hex) ?? []) {
    const place = escapedBytes.indexOf(byte) + 1;
    text += place === 0 ? String.fromCharCode(byte) : String.fromCharCode(0x7d, place);
  }
  return text;
}

/** Commands whose answer has another name: a contact that is deleted is answered like one that is set (part II, 28). */
const otherNames: ReadonlyMap<string, string> = new Map([["DPHBX", "PHBX"]]);

/**
 * A new server (part II, 8), a friend that is removed (30) and a photo that is asked for (IV), which comes by itself,
 * have no answer.
 */
const unanswered = /^(?:IP,.*\..*|PPR|RCAPTURE)$/i;

/** The answer begins with the command's name. */
export function expects(bytes: Uint8Array): ExpectedReply {
  const message = messageOf(bytes);
  if (message === undefined) return {};
  if (message.body.length < 100 && unanswered.test(latin1Of(message.body))) return "nothing";
  const name = message.name.toUpperCase();
  return { name: otherNames.get(name) ?? name };
}
