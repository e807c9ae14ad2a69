import { type Framer, frame, more } from "../../src/wire/framing.ts";

/** Cuts lines, without their line feed. */
export const lineFramer: Framer = {
  maximum: 1024,
  next(buffer, offset) {
    const end = buffer.indexOf(0x0a, offset);
    return end < 0 ? more : frame(offset, end, end + 1);
  },
};
