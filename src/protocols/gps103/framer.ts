import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";

/** Longest message: a part of a photo, whose hex digits the trackers keep near 1100. */
const maximum = 4096;

/** Whether a byte ends a message: `;`, and of some firmware `*` or a line's end. */
export function ends(byte: number): boolean {
  return byte === 0x3b || byte === 0x2a || byte === 0x0a || byte === 0x0d;
}

/** Whether a byte can begin a message: `imei:`, `##` or the digits of a heartbeat. */
function begins(byte: number): boolean {
  return byte === 0x69 || byte === 0x23 || (byte >= 0x30 && byte <= 0x39);
}

/** Cuts messages at their end marks; a heartbeat may come without one, and then the connection's pause ends it. */
export const framer: Framer = {
  maximum,
  next: (buffer, offset) => cut(buffer, offset, false),
  settle: (buffer, offset) => cut(buffer, offset, true),
};

function cut(buffer: Uint8Array, offset: number, last: boolean): Framing {
  if (!begins(buffer[offset] ?? 0)) {
    let at = offset + 1;
    while (at < buffer.length && !begins(buffer[at] ?? 0)) at++;
    return skip(at - offset, "between messages");
  }
  for (let at = offset; at < buffer.length; at++) if (ends(buffer[at] ?? 0)) return frame(offset, at, at + 1);
  return last && isHeartbeat(buffer, offset) ? frame(offset, buffer.length) : more;
}

function isHeartbeat(buffer: Uint8Array, offset: number): boolean {
  if (buffer.length - offset !== 15) return false;
  for (let at = offset; at < buffer.length; at++)
    if ((buffer[at] ?? 0) < 0x30 || (buffer[at] ?? 0) > 0x39) return false;
  return true;
}
