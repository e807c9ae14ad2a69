import type { CommandForm, ExpectedReply } from "../../wire/protocol.ts";
import { bytesOfHex, bytesOfLatin1 } from "../../wire/reader.ts";
import { command as codes, headLength, itemsOf, seal, sequenceOf } from "./envelope.ts";
import type { MiniFinder2Session } from "./session.ts";

/** Keys of commands: all of the configuration, and the address of a firmware. */
const everything = 0xf0;
/** The key of a text, in both directions. */
export const textKey = 0x1f;
const firmwareKey = 0x30;
/** A value has at most 254 bytes, and of a text the first says its kind. */
const longestText = 253;
const longestAddress = 254;

/** Under what an answer with the device's configuration is expected. */
export const configurationName = "configuration";

/**
 * `configuration` asks for it, `configuration HEX` sets the keys that the hex says, `firmware ADDRESS` updates; any
 * other text is a command as the device takes it by SMS.
 */
export const command: CommandForm<MiniFinder2Session> = {
  name: "command",
  encode(text, _session, _device, mark) {
    const body = bodyOf(text);
    if (!(body instanceof Uint8Array)) return body;
    return seal(body, sequenceNumber(mark));
  },
};

/** A sequence ID of the command's mark; 0 is none. */
function sequenceNumber(mark: number): number {
  return mark === 0 ? 1 : ((mark - 1) % 0xffff) + 1;
}

function bodyOf(text: string): Uint8Array | { readonly refused: string } {
  if (text.trim() === configurationName) return Uint8Array.of(codes.configuration, 1, everything);
  const keys = /^configuration ([0-9a-f]+)$/i.exec(text)?.[1];
  if (keys !== undefined) {
    const bytes = keys.length > 2048 ? undefined : bytesOfHex(keys);
    if (bytes === undefined) return { refused: "keys are hex of whole bytes, at most 1024" };
    return Uint8Array.of(codes.configuration, ...bytes);
  }
  if (!/^[\x20-\x7e]+$/.test(text)) return { refused: "a command is printable ASCII" };
  const address = /^firmware (\S+)$/.exec(text)?.[1];
  if (address !== undefined) {
    if (address.length > longestAddress) return { refused: `an address longer than ${longestAddress} characters` };
    return Uint8Array.of(codes.system, address.length + 1, firmwareKey, ...bytesOfLatin1(address));
  }
  if (text.length > longestText) return { refused: `longer than ${longestText} characters` };
  return Uint8Array.of(codes.system, text.length + 2, textKey, 0, ...bytesOfLatin1(text));
}

/**
 * An answer has the sequence ID of its command; the configuration comes in a message of its own, a text in one of
 * its kind.
 */
export function expects(bytes: Uint8Array): ExpectedReply {
  const [item] = itemsOf(bytes);
  const code = bytes[headLength];
  if (code === codes.configuration && item?.key === everything) return { name: configurationName };
  if (code === codes.system && item?.key === textKey) return { name: "text" };
  return { name: String(sequenceOf(bytes)) };
}
