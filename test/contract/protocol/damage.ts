import assert from "node:assert/strict";
import fc from "fast-check";
import type { Effect } from "../../../src/model/effects.ts";
import type { Framer } from "../../../src/wire/framing.ts";
import type { AnyProtocol } from "../../../src/wire/protocol.ts";
import { framerOf } from "../../../src/wire/replay.ts";
import { FrameStream } from "../../../src/wire/stream.ts";
import { runs } from "../../support/runs.ts";
import { concat, cutAt, replayOf, streamOf, type Vector } from "../../support/vectors.ts";
import { assertWellFormed } from "../../support/well-formed.ts";
import type { Check } from "./check.ts";

/** Most damaged copies of one message that are tried: an even choice of all of them. */
const maximumCopies = runs(1500);

/** Numbers from 0 below `count`, evenly chosen. */
function evenly(count: number): number[] {
  const step = Math.max(1, count / maximumCopies);
  return Array.from({ length: Math.ceil(count / step) }, (_, index) => Math.floor(index * step));
}

function hasFix(effects: readonly Effect[]): boolean {
  return effects.some((effect) => effect.type === "fix");
}

/** Effects of a damaged message after the vector's messages before it. */
function decodeDamaged(protocol: AnyProtocol, vector: Vector, index: number, damaged: Uint8Array): readonly Effect[] {
  const replay = replayOf(protocol, vector);
  for (const message of vector.input.messages.slice(0, index)) replay.recorded(message);
  const effects = replay.recorded(damaged);
  try {
    effects.forEach(assertWellFormed);
  } catch (error) {
    assert.fail(
      `${vector.name}, message ${index + 1} as ${damaged.toHex()}: ${error instanceof Error ? error.message : error}`,
    );
  }
  return effects;
}

/** Every answer of a framer is one that the stream can follow. */
function checkedFramer(framer: Framer): { readonly framer: Framer; calls(): number } {
  let calls = 0;
  const checked = (read: Framer["next"]) => (buffer: Uint8Array, offset: number) => {
    calls++;
    const framing = read(buffer, offset);
    if (framing.type === "frame") {
      const { start, stop, end } = framing;
      assert.ok(offset <= start && start <= stop && stop <= end && end > offset, JSON.stringify({ offset, framing }));
      assert.ok(end <= buffer.length, "a frame beyond what has arrived");
    } else if (framing.type === "skip") {
      assert.ok(framing.length > 0 && offset + framing.length <= buffer.length, JSON.stringify({ offset, framing }));
      assert.ok(framing.reason.length > 0);
    }
    return framing;
  };
  const { maximum, next, settle } = framer;
  return { framer: { maximum, next: checked(next), ...(settle && { settle: checked(settle) }) }, calls: () => calls };
}

/** Plays any bytes: they may be refused, but they cost no more than their length, and what comes out is well-formed. */
function endure(protocol: AnyProtocol, vector: Vector, pieces: readonly Uint8Array[]): void {
  const { framer, calls } = checkedFramer(framerOf(protocol, vector.transport));
  const stream = new FrameStream(framer, Number.POSITIVE_INFINITY);
  const replay = replayOf(protocol, vector);
  let length = 0;
  for (const piece of pieces) {
    const effects = replay.chunk(stream, piece);
    effects.forEach(assertWellFormed);
    length += piece.length;
    assert.ok(effects.length <= 4 * length + 16, "effects without end");
    assert.ok(stream.unread < framer.maximum, "more is kept than the framer's maximum");
    assert.ok(stream.held <= 4 * framer.maximum + 1024, "memory without bound");
  }
  assert.ok(calls() <= length + pieces.length, `${calls()} steps for ${length} bytes`);
  for (let next = stream.settled(); next instanceof Uint8Array; next = stream.settled())
    replay.message(next).forEach(assertWellFormed);
}

/**
 * Most bytes of one message, a limit on what a connection that never ends one can cost. A phone's batch over HTTP is
 * the longest known.
 */
const maximumFrame = 320 * 1024;

/** What a bad line, a bad device or an attacker does to the bytes. */
export const damageChecks: readonly Check[] = [
  {
    title: "gives no fix of a message that is not whole",
    run(protocol, vectors) {
      for (const vector of vectors) {
        const stream = streamOf(protocol, vector);
        const last = stream?.at(-1);
        if (stream === undefined || last === undefined || vector.input.chunks) continue;
        for (const length of evenly(last.length).slice(1)) {
          // The connection breaks off: nothing says that the message ends here, so it is not settled.
          const cut = new FrameStream(framerOf(protocol, vector.transport), Number.POSITIVE_INFINITY);
          const replay = replayOf(protocol, vector);
          for (const message of stream.slice(0, -1)) replay.message(message);
          const given = replay.chunk(cut, last.subarray(0, length));
          assert.ok(!hasFix(given), `${vector.name}: a fix of ${length} of ${last.length} bytes`);
        }
      }
    },
  },
  {
    title: "reads a message cut at any place without harm",
    run(protocol, vectors) {
      for (const vector of vectors)
        for (const [index, message] of vector.input.messages.entries())
          for (const length of evenly(message.length)) decodeDamaged(protocol, vector, index, message.slice(0, length));
    },
  },
  {
    title: "reads every flipped bit without harm, and rejects it where a checksum covers it",
    run(protocol, vectors) {
      for (const vector of vectors) {
        if (vector.input.chunks || vector.input.options.checksums === "ignore") continue;
        for (const [index, message] of vector.input.messages.entries()) flipBits(protocol, vector, index, message);
      }
    },
  },
  {
    title: "endures junk, and streams with bytes lost, added or changed",
    run(protocol, vectors) {
      const [first] = vectors;
      assert.ok(first, "no vectors");
      assert.ok(protocol.framer.maximum <= maximumFrame, `a framer that waits for ${protocol.framer.maximum} bytes`);
      const places = fc.array(fc.nat(), { maxLength: 6 });
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 2000 }), places, (junk, cuts) =>
          endure(protocol, first, cutAt(junk, cuts)),
        ),
        { numRuns: runs(100) },
      );
      const streams = vectors.flatMap((vector) => {
        const stream = streamOf(protocol, vector);
        return stream === undefined ? [] : [{ vector, bytes: concat(stream) }];
      });
      if (streams.length === 0) return;
      const edit = fc.tuple(
        fc.nat(),
        fc.constantFrom("lose", "add", "change"),
        fc.uint8Array({ minLength: 1, maxLength: 5 }),
      );
      fc.assert(
        fc.property(
          fc.constantFrom(...streams),
          fc.array(edit, { maxLength: 4 }),
          places,
          ({ vector, bytes }, edits, cuts) => {
            let damaged = bytes;
            for (const [place, kind, other] of edits) {
              const at = place % (damaged.length + 1);
              const after = damaged.subarray(kind === "add" ? at : at + other.length);
              damaged = concat([damaged.subarray(0, at), kind === "lose" ? new Uint8Array(0) : other, after]);
            }
            endure(protocol, vector, cutAt(concat([damaged, bytes]), cuts));
          },
        ),
        { numRuns: runs(200) },
      );
    },
  },
];

/** What a message tells, without what it only echoes: a sequence number may stand beside the sum. */
function toldBy(effects: readonly Effect[]): string {
  const told = effects.filter(({ type }) => type !== "reply");
  return JSON.stringify(told.map((effect) => (effect.type === "commandResult" ? { ...effect, to: "" } : effect)));
}

const isBadChecksum = (effect: Effect): boolean => effect.type === "failure" && effect.cause === "badChecksum";

/**
 * Whether a checksum covers a byte is seen from the message itself: most bits of the byte give `badChecksum`. One bit
 * may do so where none is covered: with another type or one comma less, a checksum is looked for elsewhere. All between
 * the first and the last covered byte is covered, so nothing but failures may come of it, or what the message tells as
 * it is.
 */
function flipBits(protocol: AnyProtocol, vector: Vector, index: number, message: Uint8Array): void {
  const whole = decodeDamaged(protocol, vector, index, message);
  // The right bit mends a message whose checksum is wrong.
  if (whole.some(isBadChecksum)) return;
  const told = toldBy(whole);
  const tried = new Map<number, { flips: number; refused: number }>();
  const accepted = new Set<number>();
  for (const place of evenly(message.length * 8)) {
    const at = place >> 3;
    const damaged = message.slice();
    damaged[at] = (damaged[at] ?? 0) ^ (1 << (place & 7));
    const effects = decodeDamaged(protocol, vector, index, damaged);
    const { flips, refused } = tried.get(at) ?? { flips: 0, refused: 0 };
    tried.set(at, { flips: flips + 1, refused: refused + Number(effects.some(isBadChecksum)) });
    if (effects.some((effect) => effect.type !== "failure") && toldBy(effects) !== told) accepted.add(at);
  }
  const covered = [...tried].filter(([, { flips, refused }]) => 2 * refused > flips).map(([at]) => at);
  const wrong = [...accepted].filter((at) => at >= (covered[0] ?? message.length) && at <= (covered.at(-1) ?? -1));
  assert.deepEqual(wrong, [], `${vector.name}: bytes under the checksum that may change unseen`);
}
