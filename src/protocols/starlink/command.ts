import type { CommandForm, ExpectedReply } from "../../wire/protocol.ts";
import { latin1Of } from "../../wire/reader.ts";
import { type Sentence, type StarlinkSession, seal, type Understood } from "./sentence.ts";

/** Longest payload. */
const longest = 512;
/** Type of a request for a parameter, and of its answer. */
export const parameterType = "03";

/**
 * `23,2`: the number of a command in two digits and its payload, as
 * `$SRV<unit>,<number>,<reference>,<payload>*<checksum>`.
 */
export const command: CommandForm<StarlinkSession> = {
  name: "command",
  encode(text, { ids }, device, mark) {
    if (text.length > longest) return { refused: `longer than ${longest} characters` };
    const [, number, payload = ""] = /^(\d\d)((?:,[ -)+-~]*)?)$/.exec(text) ?? [];
    if (number === undefined || payload.includes("$"))
      return { refused: "a command is its number in two digits, and behind a comma printable ASCII without $ and *" };
    const id = ids?.[0] ?? device;
    if (!/^[0-9A-Za-z]{1,20}$/.test(id)) return { refused: "the unit's number is not known" };
    return seal(`SRV${id},${number},${String(mark % 100).padStart(2, "0")}${payload}`);
  },
};

/** A request for a parameter is answered with its number; nothing else is known to be. */
export function expects(bytes: Uint8Array): ExpectedReply {
  const [, name] = /^\$SRV[0-9A-Za-z]{1,20},03,\d\d,(\d{1,5})\b/.exec(latin1Of(bytes)) ?? [];
  return name === undefined ? "nothing" : { name };
}

/** 03: a parameter that was asked for, `177,#EDT#,#EID#...`. */
export function readParameter({ fields }: Sentence): Understood {
  const [name = ""] = fields;
  const to = /^\d{1,5}$/.test(name) ? { to: name } : {};
  return { effects: [{ type: "commandResult", text: fields.join(","), ...to }] };
}
