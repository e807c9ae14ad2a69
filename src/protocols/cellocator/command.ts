import type { CommandForm, ExpectedReply } from "../../wire/protocol.ts";
import { bytesOfHex } from "../../wire/reader.ts";
import { Writer } from "../../wire/writer.ts";
import { seal } from "./frames.ts";

/** Type of a generic command, and its bytes. */
const generic = 0;
const length = 25;
/** Where its number stands. */
const numberAt = 9;
const largestId = 0xffff_ffff;

/**
 * A generic command of the manual as its fields in hex: command code and first data, and where they are needed second
 * data and data of the command: `00,00` asks for the status, `03,14` switches the blinkers on.
 */
export const command: CommandForm<unknown> = {
  name: "generic command",
  encode(text, _session, device, mark) {
    const id = /^\d{1,10}$/.test(device) ? Number(device) : largestId + 1;
    if (id > largestId) return { refused: "a command needs the number of the unit as its identifier" };
    const [, code, first, second = "0000", specific = "00000000"] =
      /^([0-9a-f]{2}),([0-9a-f]{2})(?:,([0-9a-f]{4})(?:,([0-9a-f]{8}))?)?$/i.exec(text) ?? [];
    if (code === undefined || first === undefined)
      return { refused: "a command is its code, a comma and its data in hex, as in 03,14" };
    const fields = bytesOfHex(code + code + first + first + second + specific) ?? new Uint8Array(0);
    // Numbers of 8 bits; 0 is that of commands without a mark.
    const number = mark === 0 ? 0 : ((mark - 1) % 255) + 1;
    return seal(generic, id, new Writer(16).u8(number).u32le(0).raw(fields).done());
  },
};

/** The unit answers with a status whose transmission reason names the number of the command. */
export function expects(bytes: Uint8Array): ExpectedReply {
  return bytes.length === length && bytes[4] === generic ? { name: String(bytes[numberAt]) } : "nothing";
}
