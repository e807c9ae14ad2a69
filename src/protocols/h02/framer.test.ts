import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { latin1Of } from "../../wire/reader.ts";
import { FrameStream } from "../../wire/stream.ts";
import { framer } from "./framer.ts";

const bcd = (max: number, min = 0) =>
  fc.integer({ min, max }).map((value) => Math.floor(value / 10) * 16 + (value % 10));

/** A binary message of one of the known lengths; what follows the status is anything. */
const binary = fc
  .tuple(
    fc.constantFrom(32, 45, 47, 48),
    fc.array(bcd(99), { minLength: 5, maxLength: 5 }),
    fc.tuple(bcd(23), bcd(59), bcd(59), bcd(31, 1), bcd(12, 1), bcd(99)),
    fc.uint8Array({ minLength: 36, maxLength: 36 }),
  )
  // 0x24, 0x2a and 0x58 in the tail may look like a start; the test below has those that do not.
  .map(([length, id, clock, rest]) =>
    Uint8Array.of(0x24, ...id, ...clock, ...rest.map((byte) => byte & 0x83)).slice(0, length),
  );

const sentence = fc.stringMatching(/^[A-Z0-9,.]{1,60}$/).map((text) => new TextEncoder().encode(`*HQ,${text}#`));
const separator = fc.constantFrom("", "\r\n").map((text) => new TextEncoder().encode(text));

function frames(pieces: readonly Uint8Array[]): readonly string[] {
  const stream = new FrameStream(framer, Number.POSITIVE_INFINITY);
  const found: string[] = [];
  for (const piece of pieces) {
    stream.push(piece);
    for (let next = stream.next(); next instanceof Uint8Array; next = stream.next()) found.push(next.toHex());
  }
  for (let next = stream.settled(); next instanceof Uint8Array; next = stream.settled()) found.push(next.toHex());
  return found;
}

describe("the H02 framer", () => {
  it("cuts sentences and binary messages of all lengths, in any order, however they arrive", () => {
    const message = fc.tuple(fc.oneof(binary, sentence), separator);
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 6 }),
        (sent, places) => {
          const last = sent.length - 1;
          const bytes = Uint8Array.from(
            sent.flatMap(([content, end], index) => (index === last ? [...content] : [...content, ...end])),
          );
          const marks = [0, ...places.map((place) => place % bytes.length).toSorted((a, b) => a - b), bytes.length];
          const pieces = marks.slice(1).map((mark, index) => bytes.slice(marks[index], mark));
          assert.deepEqual(
            frames(pieces),
            sent.map(([content]) => content.toHex()),
          );
        },
      ),
    );
  });

  it("takes no marker within a binary message for the next one", () => {
    // Satellites, mileage and cell hold the codes of `$`, `*` and line ends.
    const message = Uint8Array.fromHex(
      "2410000000011015300302265107500005013442500e012180fffffbffff00142a24582a0d0a24010d0a2a58240a0d".slice(0, 90),
    );
    assert.deepEqual(frames([message, message]), [message.toHex(), message.toHex()]);
  });

  it("waits for the end of a message that may go on, until the stream is quiet", () => {
    const stream = new FrameStream(framer, 0);
    const message = Uint8Array.fromHex("2410000000011015300302265107500005013442500e012180fffffbffff0007");
    stream.push(message);
    assert.equal(stream.next(), "more");
    assert.ok(stream.unsettled);
    const settled = stream.settled();
    assert.ok(settled instanceof Uint8Array && settled.toHex() === message.toHex());
    assert.equal(stream.unsettled, false);
  });

  it("goes on after junk", () => {
    const text = new TextEncoder().encode("junk$$not bcd*HQ,1,V0#");
    const last = frames([text]).at(-1) ?? "";
    assert.equal(latin1Of(Uint8Array.fromHex(last)), "*HQ,1,V0#");
  });
});
