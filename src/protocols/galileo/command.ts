import { crc16Modbus } from "../../wire/checksums.ts";
import type { CommandForm, ExpectedReply } from "../../wire/protocol.ts";
import { latin1Of } from "../../wire/reader.ts";
import { Writer } from "../../wire/writer.ts";
import { data } from "./frames.ts";

/** Offsets in a command: the tag of its number behind IMEI and device number, and the tag of its text. */
const numberTag = 22;
const textTag = 27;
const longestText = 255;

/** A data packet of tags: header, length, checksum. */
export function packetOf(tags: Uint8Array): Uint8Array {
  const packet = new Writer(tags.length + 5).u8(data).u16le(tags.length).raw(tags);
  return packet.u16le(crc16Modbus(packet.done())).done();
}

/**
 * IMEI and a device number that says nothing, as a server writes it, the number of a command, and its text or answer.
 */
export function textPacket(imei: string, number: number, text: string): Uint8Array {
  const tags = new Writer(32).u8(0x03).latin1(imei).u8(0x04).u16le(0).u8(0xe0).u32le(number);
  return packetOf(tags.u8(0xe1).u8(text.length).latin1(text).done());
}

/** Packets one after the other. */
export function concatBytes(packets: readonly Uint8Array[]): Uint8Array {
  return packets.reduce((writer, packet) => writer.raw(packet), new Writer(256)).done();
}

/** A command of the manual as text: `status`, `Out 0,1`. */
export const command: CommandForm<unknown> = {
  name: "command",
  encode(text, _session, device, mark) {
    if (!/^\d{15}$/.test(device))
      return { refused: "a command needs the tracker's IMEI of 15 digits as its identifier" };
    if (text.length === 0 || text.length > longestText)
      return { refused: `a command has 1 to ${longestText} characters` };
    if (!/^[ -~]*$/.test(text)) return { refused: "a command has printable ASCII characters only" };
    return textPacket(device, mark, text);
  },
};

/** What a packet that is a command says; undefined: it is none. */
export function readCommand(packet: Uint8Array): { readonly number: number; readonly text: string } | undefined {
  if (packet[0] !== data || packet[numberTag] !== 0xe0 || packet[textTag] !== 0xe1) return undefined;
  const number = new DataView(packet.buffer, packet.byteOffset).getUint32(numberTag + 1, true);
  const start = textTag + 2;
  return { number, text: latin1Of(packet.subarray(start, start + (packet[textTag + 1] ?? 0))) };
}

/** The tracker's answer repeats the number of the command. */
export function expects(bytes: Uint8Array): ExpectedReply {
  const sent = readCommand(bytes);
  return sent === undefined ? "nothing" : { name: String(sent.number) };
}
