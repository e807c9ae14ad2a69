import type { Effect } from "../../model/effects.ts";
import type { CommandForm } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { acknowledgement, headLength, packetBytes, packetOf, type Read, type T800xSession } from "./packet.ts";
import { utf16Of } from "./serial.ts";

const commandType = 0x81;
/** What a 0x81 carries: a command and its answer, a text that was forwarded, an answer of the network. */
const kinds = { command: 1, forwarded: 3, ussd: 5 } as const;
/** Longest command: the devices take a text of an SMS. */
const maximumText = 160;

/** 0x81 from the server: kind 1 and the text of an SMS, `RELAY,0000,On#`. */
export const command: CommandForm<T800xSession> = {
  name: "command",
  encode(text, { id, family }, device) {
    if (text.length > maximumText) return { refused: `longer than ${maximumText} characters` };
    if (!/^[\x20-\x7e]+$/.test(text)) return { refused: "a command is printable ASCII" };
    const imei = id ?? device;
    if (!/^\d{1,15}$/.test(imei)) return { refused: "the device's IMEI is not known" };
    return commandBytes(family, imei, bytesOfLatin1(text));
  },
};

function commandBytes(family: number, imei: string, text: Uint8Array): Uint8Array {
  return packetBytes({ family, type: commandType, serial: 1, imei }, Uint8Array.of(kinds.command, ...text));
}

/** 0x81 from the device: kind and text in UTF-16. */
export const readAnswer: Read = (packet) => {
  const { body } = packet;
  const answer = acknowledgement(packet, "identified");
  if (body.remaining === 0) return [{ type: "ignored", reason: "answer without a text" }, answer];
  const kind = body.u8();
  const text = utf16Of(body.take(body.remaining));
  if (kind === kinds.command) return [{ type: "commandResult", text }, answer];
  const name = kind === kinds.forwarded ? "forwardedText" : "networkAnswer";
  const report: Effect = { type: "readings", alarms: [], readings: {}, attributes: { [name]: text } };
  return [report, answer];
};

/** The device's answer to a command: that it did it. Undefined: the bytes are no command. */
export function answerTo(message: Uint8Array, device: string, serial: number): Uint8Array | undefined {
  const packet = message.length > headLength + 1 ? packetOf(message, undefined) : undefined;
  if (packet === undefined || packet.type !== commandType || packet.body.u8() !== kinds.command) return undefined;
  const text = `SET ${latin1Of(packet.body.take(packet.body.remaining))} OK`;
  const units = [...text].flatMap((character) => [character.charCodeAt(0), 0]);
  return packetBytes({ ...packet, serial, imei: device }, Uint8Array.of(kinds.command, ...units));
}
