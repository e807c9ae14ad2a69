import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { FrameStream } from "../../wire/stream.ts";
import { framer } from "./framer.ts";

/** The messages of a stream that comes in pieces, and of what waits when it is quiet. */
function frames(...pieces: readonly string[]): readonly string[] {
  const stream = new FrameStream(framer, Number.POSITIVE_INFINITY);
  const found: string[] = [];
  for (const piece of pieces) {
    stream.push(bytesOfLatin1(piece));
    for (let next = stream.next(); next instanceof Uint8Array; next = stream.next()) found.push(latin1Of(next));
  }
  for (let next = stream.settled(); next instanceof Uint8Array; next = stream.settled()) found.push(latin1Of(next));
  return found;
}

const link = "[3G*4902031514*0002*LK]";

describe("the framer of watches", () => {
  it("goes by the length field, whatever brackets the content holds", () => {
    const message = "[3G*4902031514*000D*VERNO,a][3G*1]";
    assert.deepEqual(frames(message + link), [message, link]);
  });

  it("takes a length that counts wrongly, with or without another message behind", () => {
    for (const length of ["0001", "0010", "00FF"]) {
      const message = `[SG*4902031514*${length}*VERNO,[a]b]`;
      assert.deepEqual(frames(message), [message]);
      assert.deepEqual(frames(message + link), [message, link]);
      assert.deepEqual(frames(`${message}\r\n${link}`), [message, link]);
      assert.deepEqual(frames(...message, ...link), [message, link]);
    }
  });

  it("takes a voice message that is counted before it is escaped", () => {
    const message = "[ZJ*490203151423751*0034*0006*TK,}\x03}\x02A]";
    assert.deepEqual(frames(link + message + link), [link, message, link]);
  });

  it("goes on where it stopped, and finds the same end", () => {
    const message = bytesOfLatin1(`[3G*4902031514*0001*VERNO,${"]a".repeat(20)}]${link}`);
    const whole = framer.next(message, 0);
    let progress: object | undefined;
    for (let length = 1; length <= message.length; length++) {
      const framing = framer.next(message.subarray(0, length), 0, progress);
      assert.deepEqual(framing.type === "frame", length >= message.length - 2, `${length} bytes`);
      if (framing.type === "frame") assert.deepEqual(framing, whole);
      progress = framing.type === "more" ? framing.progress : undefined;
    }
  });

  it("waits for the rest, and passes over what is none", () => {
    const stream = new FrameStream(framer, 100);
    for (const part of ["[", "[3", "[3G*4902031514", "[3G*4902031514*0004*ABCD", "[3G*4902031514*0034*0002*LK"]) {
      assert.equal(framer.next(bytesOfLatin1(part), 0).type, "more", part);
    }
    stream.push(bytesOfLatin1(`junk[3G-[3G*4902031514*xyz*${link}`));
    const next = stream.next();
    assert.equal(next instanceof Uint8Array && latin1Of(next), link);
  });
});
