import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import { latin1Of } from "../../wire/reader.ts";

/** Longest message: lists of access points and texts have some hundred characters. */
const maximum = 2048;

const open = 0x28;
const close = 0x29;
const dollar = 0x24;

/** Cuts `(...)`. The answer to a text command (ZC03) quotes its text with `$`, and that may hold brackets. */
export const framer: Framer = {
  maximum,
  next(buffer, offset) {
    if (buffer[offset] !== open) {
      const start = buffer.indexOf(open, offset);
      return skip((start < 0 ? buffer.length : start) - offset, "between messages");
    }
    return cut(buffer, offset);
  },
};

function cut(buffer: Uint8Array, offset: number): Framing {
  for (let at = offset + 1; at < buffer.length; at++) {
    const byte = buffer[at];
    if (byte === close) return frame(offset, at + 1);
    if (byte === open) return skip(at - offset, "no end of a message");
    if (byte !== dollar || !isQuoting(buffer, offset)) continue;
    const end = buffer.indexOf(dollar, at + 1);
    if (end < 0) return more;
    at = end;
  }
  return more;
}

/** Whether the message is an answer to a text command: `(identifier,ZC03,`. */
function isQuoting(buffer: Uint8Array, offset: number): boolean {
  return /^\(\d{1,20},ZC03,/.test(latin1Of(buffer.subarray(offset, offset + 32)));
}
