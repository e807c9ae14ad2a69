import assert from "node:assert/strict";
import fc from "fast-check";
import { asJson, concat, cutAt, play, replayOf, streamOf, type Vector } from "../../support/vectors.ts";
import type { Check } from "./check.ts";
import { claimedByOthers } from "./detection.ts";

/** How the bytes arrive makes no difference; nobody's bytes are changed or kept. */
export const streamChecks: readonly Check[] = [
  {
    title: "gives the same effects however the stream is cut",
    run(protocol, vectors) {
      for (const vector of vectors) {
        const stream = streamOf(protocol, vector);
        if (stream === undefined) continue;
        const bytes = concat(stream);
        const expected = vector.effects.flat();
        const given = (pieces: readonly Uint8Array[]) => asJson(replayOf(protocol, vector).chunks(pieces).flat());
        assert.deepEqual(given([bytes]), expected, `${vector.name}, in one piece`);
        const single = [...bytes].map((byte) => Uint8Array.of(byte));
        assert.deepEqual(given(single), expected, `${vector.name}, byte by byte`);
        fc.assert(
          fc.property(fc.array(fc.nat(), { maxLength: 8 }), (places) => {
            assert.deepEqual(given(cutAt(bytes, places)), expected, vector.name);
          }),
          { numRuns: 10 },
        );
      }
    },
  },
  {
    title: "has vectors of whole frames, where it comes over TCP",
    run(protocol, vectors) {
      if (!protocol.transports.includes("tcp")) return;
      assert.ok(vectors.some((vector) => streamOf(protocol, vector) !== undefined));
    },
  },
  {
    title:
      "reads several messages of one datagram like each in a datagram of its own, where it says that one may hold several",
    run(protocol, vectors) {
      if (protocol.datagram === undefined) return;
      for (const vector of vectors) {
        const messages = streamOf({ ...protocol, framer: protocol.datagram }, { ...vector, transport: "tcp" });
        if (messages === undefined || messages.length === 0 || vector.input.chunks) continue;
        const overUdp: Vector = { ...vector, transport: "udp" };
        const alone = replayOf(protocol, overUdp);
        const expected = messages.flatMap((message) => alone.recorded(message));
        assert.deepEqual(replayOf(protocol, overUdp).recorded(concat(messages)), expected, vector.name);
      }
    },
  },
  {
    title: "changes no input, and keeps nothing of it",
    run(protocol, vectors) {
      for (const vector of vectors) {
        if (vector.input.chunks) continue;
        const replay = replayOf(protocol, vector);
        for (const [index, message] of vector.input.messages.entries()) {
          // The frame as the gateway gives it: a part of a larger buffer, whose bytes are others a moment later.
          const buffer = new Uint8Array(message.length + 40).fill(0x5a);
          buffer.set(message, 17);
          const before = buffer.slice();
          const effects = replay.recorded(buffer.subarray(17, 17 + message.length));
          assert.deepEqual(buffer, before, `${vector.name}: input changed`);
          buffer.fill(0xa5);
          assert.deepEqual(asJson(effects), vector.effects[index], `${vector.name}: kept a view of its input`);
        }
      }
    },
  },
  {
    title: "gives the same on a connection of its own as beside others",
    run(protocol, vectors) {
      for (const vector of vectors) {
        play(protocol, vector);
        assert.deepEqual(play(protocol, vector).map(asJson), vector.effects, vector.name);
      }
    },
  },
  {
    title: "is recognised by the first bytes of its connections, however few have arrived",
    run(protocol, vectors) {
      assert.deepEqual(claimedByOthers([protocol], protocol, vectors), []);
    },
  },
];
