import type { CommandForm, ExpectedReply } from "../../wire/protocol.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { wordOf } from "./replies.ts";
import { fieldsOf, headerOf, headOf } from "./sentence.ts";
import type { SuntechSession } from "./session.ts";

/** Longest command: the network settings with names and passwords. */
const maximumText = 400;

/**
 * `ST300CMD;DEV_ID;02;Reboot` and a return (ST300/340 Operation Manual, 7-1). A text that begins with another header's
 * three letters and a semicolon (`NTW;0;internet;...`) gets that header. To the universal format:
 * `CMD;DEV_ID;group;command;...`.
 */
export const command: CommandForm<SuntechSession> = {
  name: "command",
  encode(text, session, device) {
    if (text.length > maximumText) return { refused: `longer than ${maximumText} characters` };
    if (!/^[\x20-\x7e]+$/.test(text)) return { refused: "a command is printable ASCII; a return marks its end" };
    const id = session.id ?? device;
    if (id === "") return { refused: "the device's identifier is not known" };
    if (session.product === "") return bytesOfLatin1(`CMD;${id};${text}\r`);
    const header = /^[A-Z]{3};/.test(text) ? text.slice(0, 3) : "CMD";
    const rest = header === "CMD" && !text.startsWith("CMD;") ? text : text.slice(4);
    return bytesOfLatin1(`${session.product}${header};${id};02;${rest}\r`);
  },
};

/** Requests that are answered by a report. */
const answeredByReports: ReadonlySet<string> = new Set(["StatusReq", "AckEmerg", "GTR"]);

/** What a command's answer calls it: CMD_ID, the header, or of the universal format group and command. */
export function expects(bytes: Uint8Array): ExpectedReply {
  const header = headerOf(headOf(bytes));
  if (header === undefined) return {};
  const fields = fieldsOf(bytes);
  if (header.product === "") return { name: fields.slice(2, 4).join(";") };
  const name = header.type === "CMD" ? wordOf(fields[3] ?? "") : header.type;
  if (answeredByReports.has(name) && name !== "AckEmerg") return "nothing";
  return name === "" ? {} : { name };
}
