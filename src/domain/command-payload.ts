import type { CommandFormat } from "../model/command.ts";

const encoder = new TextEncoder();

/**
 * The bytes of a command's text (specification 4.7): UTF-8 exactly; hexadecimal, spaces and hyphens ignored; or Base64
 * with its padding (RFC 4648, 4) and nothing else. A sentence, where the text is no such thing.
 */
export function payloadOf(format: CommandFormat, text: string): Uint8Array | string {
  switch (format) {
    case "Text":
      return text.isWellFormed() ? encoder.encode(text) : "has half a surrogate pair, which UTF-8 can't carry";
    case "Hex":
      return bytesOfHex(text.replaceAll(/[ -]/g, ""));
    case "Base64":
      return bytesOfBase64(text);
  }
}

function bytesOfHex(digits: string): Uint8Array | string {
  if (!/^[0-9a-fA-F]*$/.test(digits)) return "must be hexadecimal digits, spaces and hyphens";
  return digits.length % 2 === 0 ? Uint8Array.fromHex(digits) : "must have an even number of hexadecimal digits";
}

function bytesOfBase64(text: string): Uint8Array | string {
  // The decoder would pass over white space.
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return "must be Base64";
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: "strict" });
  } catch {
    return "must be Base64 with its padding";
  }
}
