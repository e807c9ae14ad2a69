import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type Framer, frame, more, skip } from "./framing.ts";
import { FrameStream } from "./stream.ts";

/** Frames: 0x02, a length byte, so many bytes. Anything else up to the next 0x02 is junk. */
const framer: Framer = {
  maximum: 64,
  next(buffer, offset) {
    if (buffer[offset] !== 2) {
      const start = buffer.indexOf(2, offset);
      return skip((start < 0 ? buffer.length : start) - offset, "no start");
    }
    const length = buffer[offset + 1];
    if (length === undefined) return more;
    if (length > 62) return skip(1, "length");
    const end = offset + 2 + length;
    return end > buffer.length ? more : frame(offset + 2, end);
  },
};

/** Frames that a stream gives for these chunks, as hex, and "junk" where it ended so. */
function run(chunks: readonly Uint8Array[], stream = new FrameStream(framer, 1000)): string[] {
  const found: string[] = [];
  for (const chunk of chunks) {
    stream.push(chunk);
    for (;;) {
      const next = stream.next();
      if (next === "more") break;
      if (next === "junk") return [...found, "junk"];
      found.push(next.toHex());
    }
  }
  return found;
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const marks = [0, ...at.map((mark) => mark % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return marks.slice(1).map((mark, index) => bytes.slice(marks[index], mark));
}

function encode(payload: Uint8Array): Uint8Array {
  return Uint8Array.of(2, payload.length, ...payload);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

const payload = fc.uint8Array({ maxLength: 62 });

describe("FrameStream", () => {
  it("gives what was framed, however the stream is cut", () => {
    fc.assert(
      fc.property(fc.array(payload), fc.array(fc.nat()), (payloads, marks) => {
        const bytes = concat(payloads.map(encode));
        const expected = payloads.map((bytes) => bytes.toHex());
        assert.deepEqual(run(cut(bytes, marks)), expected);
        assert.deepEqual(run([...bytes].map((byte) => Uint8Array.of(byte))), expected);
      }),
    );
  });

  it("gives the same of any bytes, however they are cut, with the same count of junk", () => {
    const noisy = fc.array(fc.oneof(fc.uint8Array({ maxLength: 100 }), payload.map(encode))).map(concat);
    fc.assert(
      fc.property(noisy, fc.array(fc.nat()), (bytes, marks) => {
        const whole = new FrameStream(framer, 100_000);
        const pieces = new FrameStream(framer, 100_000);
        assert.deepEqual(run(cut(bytes, marks), pieces), run([bytes], whole));
        assert.equal(pieces.skipped, whole.skipped);
        assert.deepEqual(pieces.rest(), whole.rest());
      }),
    );
  });

  it("does not copy a chunk that holds whole frames, and holds nothing after it", () => {
    const chunk = concat([encode(Uint8Array.of(1, 2)), encode(Uint8Array.of(3))]);
    const stream = new FrameStream(framer, 0);
    stream.push(Buffer.from(chunk.buffer));
    const first = stream.next();
    const second = stream.next();
    assert.ok(first instanceof Uint8Array && second instanceof Uint8Array);
    assert.equal(first.buffer, chunk.buffer);
    assert.equal(second.buffer, chunk.buffer);
    assert.ok(!Buffer.isBuffer(first), "a plain view, whose slice copies");
    assert.equal(stream.next(), "more");
    assert.equal(stream.held, 0);
  });

  it("keeps nothing of the socket's buffer while it waits", () => {
    const socket = new Uint8Array(65_536);
    socket.set([2, 5, 1, 2]);
    const stream = new FrameStream(framer, 0);
    stream.push(socket.subarray(0, 4));
    assert.equal(stream.next(), "more");
    socket.fill(0xff);
    assert.equal(stream.held, 4);
    stream.push(Uint8Array.of(3, 4, 5));
    assert.deepEqual(stream.next(), Uint8Array.of(1, 2, 3, 4, 5));
    assert.equal(stream.next(), "more");
    assert.equal(stream.held, 0);
  });

  it("says junk once more bytes in a row than allowed belong to no frame, and from then on", () => {
    const stream = new FrameStream(framer, 4);
    stream.push(Uint8Array.of(9, 9, 9, 9, 2, 0, 9, 9, 9));
    assert.deepEqual(stream.next(), new Uint8Array(0));
    assert.equal(stream.next(), "more");
    stream.push(Uint8Array.of(9));
    assert.equal(stream.next(), "more");
    stream.push(Uint8Array.of(9));
    assert.equal(stream.next(), "junk");
    stream.push(encode(Uint8Array.of(1)));
    assert.equal(stream.next(), "junk");
    assert.equal(stream.held, 0);
    assert.equal(stream.skipReason, "no start");
  });

  it("takes a buffer of the framer's maximum that gives no frame for junk, in any cut", () => {
    const endless: Framer = { maximum: 8, next: () => more };
    for (const size of [1, 3, 8, 20]) {
      const stream = new FrameStream(endless, 15);
      const states: string[] = [];
      for (let sent = 0; sent < 20; sent += size) {
        stream.push(new Uint8Array(Math.min(size, 20 - sent)));
        states.push(String(stream.next()));
        assert.ok(stream.unread < 8);
      }
      assert.equal(states.at(-1), "junk", `pieces of ${size}`);
    }
  });

  it("reads what waits as it is once nothing follows, for a framer that must see what does", () => {
    // Messages of one or two bytes: a 9 after the first says that there are two.
    const patient: Framer = {
      maximum: 8,
      next(buffer, offset) {
        const second = buffer[offset + 1];
        return second === undefined ? more : frame(offset, offset + (second === 9 ? 2 : 1));
      },
      settle: (buffer, offset) => frame(offset, buffer.length),
    };
    const stream = new FrameStream(patient, 0);
    assert.ok(!stream.unsettled);
    stream.push(Uint8Array.of(1, 9, 2, 3));
    assert.deepEqual(stream.next(), Uint8Array.of(1, 9));
    assert.deepEqual(stream.next(), Uint8Array.of(2));
    assert.equal(stream.next(), "more");
    assert.ok(stream.unsettled);
    assert.deepEqual(stream.settled(), Uint8Array.of(3));
    assert.equal(stream.settled(), "more");
    assert.ok(!stream.unsettled);
    assert.equal(stream.held, 0);
    assert.ok(!new FrameStream(framer, 0).unsettled);
  });

  it("asks a framer that said how much it needs only then, and hands it its progress", () => {
    const asked: number[] = [];
    const counting: Framer = {
      maximum: 100,
      next(buffer, offset, progress) {
        const length = buffer.length - offset;
        asked.push(progress instanceof Map ? length : -length);
        return length < 10 ? { type: "more", length: 10, progress: new Map() } : frame(offset, offset + 10);
      },
    };
    const stream = new FrameStream(counting, 0);
    for (let sent = 0; sent < 25; sent++) {
      stream.push(Uint8Array.of(sent));
      stream.next();
    }
    // The second call of a pair sees an empty rest, which nobody is asked about; a message begins without progress.
    assert.deepEqual(asked, [-1, 10, -1, 10, -1]);
    assert.equal(stream.unread, 5);
  });

  it("asks a framer that needs more than its maximum once that is there", () => {
    const greedy: Framer = { maximum: 8, next: () => ({ type: "more", length: 1000 }) };
    const stream = new FrameStream(greedy, 7);
    for (let sent = 0; sent < 7; sent++) {
      stream.push(Uint8Array.of(sent));
      assert.equal(stream.next(), "more");
    }
    stream.push(Uint8Array.of(7));
    assert.equal(stream.next(), "junk");
  });

  it("goes on after a framer that would not", () => {
    const stuck: Framer = { maximum: 8, next: (_, offset) => frame(offset, offset, offset) };
    const stream = new FrameStream(stuck, 0);
    stream.push(new Uint8Array(5));
    let frames = 0;
    while (stream.next() !== "more") frames++;
    assert.equal(frames, 5);
  });

  it("copies linearly when a long frame arrives byte by byte, and asks the framer once a byte", (context) => {
    const length = 20_000;
    let calls = 0;
    const long: Framer = {
      maximum: length,
      next(buffer, offset) {
        calls++;
        return buffer.length - offset < length ? more : frame(offset, offset + length);
      },
    };
    let copied = 0;
    const set = Uint8Array.prototype.set;
    context.mock.method(Uint8Array.prototype, "set", function (this: Uint8Array, from: ArrayLike<number>, at?: number) {
      copied += from.length;
      set.call(this, from, at);
    });
    const stream = new FrameStream(long, 0);
    let frames = 0;
    for (let sent = 0; sent < 2 * length; sent++) {
      stream.push(Uint8Array.of(sent & 0xff));
      while (stream.next() !== "more") frames++;
      assert.ok(stream.held <= 2 * length);
    }
    assert.equal(frames, 2);
    assert.equal(calls, 2 * length);
    assert.ok(copied < 8 * length, `${copied} bytes copied`);
  });
});
