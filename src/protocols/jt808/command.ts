import type { CommandForm, ExpectedReply } from "../../wire/protocol.ts";
import { bytesOfHex, bytesOfLatin1 } from "../../wire/reader.ts";
import { classify, delimiter, open, seal } from "./envelope.ts";
import { phoneOf } from "./identity.ts";
import { jimiModels } from "./jimi.ts";
import type { Session } from "./row.ts";

/** A body has at most 1,023 bytes. */
const longestBody = 1023;

/** Flag of a text message (table 38): urgent, and for the terminal's own screen, speaker and parser. */
const textFlag = 1;

/** `8105,f0`: the id of a platform message and its body in hex. */
const otherMessage = /^([89][0-9a-f]{3})(?:,((?:[0-9a-f]{2})*))?$/i;

/**
 * Models of AOVX, which take AT commands as a parameter (0xF030), and of Jimi, which take them as transparent data
 * (0xF0).
 */
const parameterModels: ReadonlySet<string> = new Set(["AL300", "GL100", "VL300"]);

/** The id and body of a command. */
function contentOf(
  text: string,
  model = "",
): { readonly type: number; readonly body: Uint8Array } | { readonly refused: string } {
  const [whole, id, body = ""] = otherMessage.exec(text) ?? [];
  if (whole !== undefined && id !== undefined) return { type: Number.parseInt(id, 16), body: Uint8Array.fromHex(body) };
  if (!/^[\x20-\x7e]+$/.test(text)) return { refused: "a command consists of printable ASCII characters" };
  const bytes = bytesOfLatin1(text);
  if (jimiModels.has(model)) return { type: 0x8900, body: Uint8Array.of(0xf0, ...bytes) };
  if (parameterModels.has(model)) {
    if (bytes.length > 255) return { refused: "a command of more than 255 characters" };
    return { type: 0x8103, body: Uint8Array.of(1, 0, 0, 0xf0, 0x30, bytes.length, ...bytes) };
  }
  return { type: 0x8300, body: Uint8Array.of(textFlag, ...bytes) };
}

/**
 * 0x8300 "Text message" with the command; of the form `8105,f0` another message of the platform, with its body in hex;
 * of the form `7e...7e` a whole message, which is sent as it is. The serial number is the command's mark, which the
 * terminal repeats.
 */
export const platformMessage: CommandForm<Session> = {
  name: "0x8300",
  encode: (text, session, device, mark) => {
    const whole = /^7e(?:[0-9a-f]{2}){13,}7e$/i.test(text) ? bytesOfHex(text) : undefined;
    if (whole !== undefined && !whole.subarray(1, -1).includes(delimiter)) return whole;
    const content = contentOf(text, session.model);
    if ("refused" in content) return content;
    if (content.body.length > longestBody) return { refused: `a command of more than ${longestBody - 1} characters` };
    const phone = session.sender?.phone ?? phoneOf(device, 6) ?? phoneOf(device, 10);
    if (phone === undefined) return { refused: "the device's number is none that a message can carry" };
    const address = session.sender ?? { delimiter, version: phone.length > 6 ? 1 : undefined, phone };
    return seal(content.type, address, mark & 0xffff, content.body);
  },
};

/** Answers of the platform itself, which nobody answers. */
const answers: readonly number[] = [0x4401, 0x8001, 0x8003, 0x8004, 0x8100, 0x8109, 0x8800];

/** A terminal repeats the serial number of a command, 0 is that of commands without a mark. */
export function expects(bytes: Uint8Array): ExpectedReply {
  const type = classify(bytes);
  if (typeof type !== "number") return {};
  if (answers.includes(type)) return "nothing";
  const serial = open(bytes)?.message.serial ?? 0;
  return serial === 0 ? {} : { name: serial.toString(16) };
}
