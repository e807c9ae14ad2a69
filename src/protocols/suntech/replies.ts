import type { Effect } from "../../model/effects.ts";
import { fieldsOf, headerOf, headOf, isId } from "./sentence.ts";
import { decoded, type Handler, malformed, unnamed } from "./session.ts";

/**
 * `ST300CMD;Res;DEV_ID;SW_VER;CMD_ID...`: the answer to a command, called by CMD_ID, or by its header where that is
 * another one.
 */
export const legacyReply: Handler = (frame, session) => {
  const fields = fieldsOf(frame);
  const header = headerOf(headOf(frame));
  const id = fields[2];
  if (header === undefined || !isId(id)) return unnamed(session, malformed);
  const to = header.type === "CMD" ? wordOf(fields[4] ?? "") : header.type;
  const result: Effect = { type: "commandResult", text: fields.slice(3).join(";"), ...(to !== "" && { to }) };
  return decoded(session, { id, product: header.product }, [result]);
};

/** `RES;DEV_ID;group;command;...`: called by group and command. */
export const universalReply: Handler = (frame, session) => {
  const fields = fieldsOf(frame);
  const id = fields[1];
  if (!isId(id)) return unnamed(session, malformed);
  const to = fields.slice(2, 4).join(";");
  const result: Effect = { type: "commandResult", text: fields.slice(2).join(";"), ...(to !== "" && { to }) };
  return decoded(session, { id, product: "" }, [result]);
};

/** ALV: a keep-alive, which holds the identifier alone. */
export const keepAlive: Handler = (frame, session) => {
  const fields = fieldsOf(frame);
  const header = headerOf(headOf(frame));
  const id = fields[1];
  if (header === undefined || !isId(id)) return unnamed(session, malformed);
  return decoded(session, { id, product: header.product }, [{ type: "ignored", reason: "keep-alive" }]);
};

/** A command's own word, without what it is set to. */
export function wordOf(text: string): string {
  return text.split("=")[0]?.trim() ?? "";
}
