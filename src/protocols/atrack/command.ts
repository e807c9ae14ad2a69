import type { CommandForm } from "../../wire/protocol.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";

const longestText = 1000;
const head = "AT$";

/** A command of the manual, with or without its head: `AT$INFO=?`, `OUTC=1,1`. (Protocol Document, 2.1) */
export const command: CommandForm<unknown> = {
  name: "command",
  encode(text) {
    const bare = text.startsWith(head) ? text.slice(head.length) : text;
    if (!/^[A-Z0-9][ -~]*$/.test(bare))
      return { refused: "a command is capitals or digits, then printable ASCII characters" };
    if (bare.length > longestText) return { refused: `a command has at most ${longestText} characters` };
    return bytesOfLatin1(`${head}${bare}\r\n`);
  },
};
