import type { CommandForm, ExpectedReply } from "../../wire/protocol.ts";
import { answerName } from "./answers.ts";
import { idBytesOf, open, seal } from "./frames.ts";
import type { Session } from "./row.ts";

/** Version of a command to a tracker that has sent nothing yet. */
const firstVersion = 1;
const longestContent = 512;

/**
 * Type and content of a message of the server in hex: `4583,01` cuts the fuel of a tracker, `3001,0000` asks for its
 * place.
 */
export const command: CommandForm<Session> = {
  name: "message",
  encode(text, { version = firstVersion, unversioned }, device) {
    const idBytes = idBytesOf(device);
    if (idBytes === undefined) return { refused: "a command needs an identifier of 1 to 20 characters of ASCII" };
    if (unversioned) return { refused: "this tracker sends frames without a version, and takes no commands" };
    const [, type, content = ""] = /^([0-7][0-9a-f]{3})(?:,((?:[0-9a-f]{2})*))?$/i.exec(text) ?? [];
    if (type === undefined)
      return { refused: "a command is its type in 4 hex digits below 8000, and a comma and its content in hex" };
    if (content.length > longestContent * 2)
      return { refused: `a command's content has at most ${longestContent} bytes` };
    return seal(version, idBytes, Number.parseInt(type, 16), Uint8Array.fromHex(content));
  },
};

/** Type of the answer: 0x8000 more, of messages of 0x4000 and above with the other of the highest two bits. */
export function answerType(type: number): number {
  return (type & 0x4000) !== 0 ? type ^ 0xc000 : type | 0x8000;
}

/** The tracker answers with the type that follows from the command's; to an answer of the server with nothing. */
export function expects(bytes: Uint8Array): ExpectedReply {
  const message = open(bytes);
  if (message === undefined || message.family === "MPIP" || (message.type & 0x8000) !== 0) return "nothing";
  return { name: answerName(answerType(message.type)) };
}
