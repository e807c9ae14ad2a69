import type { CommandForm, ExpectedReply } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import type { Session } from "./session.ts";

/** Longest command: a list of settings. */
const longest = 1000;

/**
 * A command as the manual has it, with its password and serial number: `AT+GTRTO=gv300,1,,,,,,0015$`. What every
 * command begins and ends with may be left out.
 */
export const command: CommandForm<Session> = {
  name: "AT+GT",
  encode(text) {
    if (text.length > longest) return { refused: `longer than ${longest} characters` };
    const body = text.endsWith("$") ? text.slice(0, -1) : text;
    if (!/^[ -#%-~]+$/.test(body)) return { refused: "a command is printable ASCII without $" };
    const head = /^AT\+/i.test(body) ? "" : /^GT/i.test(body) ? "AT+" : "AT+GT";
    return bytesOfLatin1(`${head}${body}$`);
  },
};

/** The acknowledgement repeats the command's name and its serial number. */
export function expects(bytes: Uint8Array): ExpectedReply {
  const name = commandName(latin1Of(bytes));
  return name === undefined ? "nothing" : { name };
}

/** Name and serial number of a command, as its acknowledgement has them. */
export function commandName(text: string): string | undefined {
  const at = text.indexOf("+") + 1;
  const fields = text.slice(at, -1).split(/[=,]/);
  if (!/^AT\+GT/i.test(text) || !text.endsWith("$")) return undefined;
  const serial = fields.at(-1) ?? "";
  return `${fields[0]},${fields.length > 1 && /^[0-9A-F]{4}$/i.test(serial) ? serial : ""}`.toUpperCase();
}
