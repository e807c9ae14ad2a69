import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ChangeLog } from "./change-log.ts";

const things = ["a", "b", "c", "d", "e"];
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ put: fc.constantFrom(...things), bytes: fc.constantFrom(0, 0, 3, 5) }) },
  { weight: 1, arbitrary: fc.record({ remove: fc.constantFrom(...things) }) },
  { weight: 1, arbitrary: fc.constantFrom({ pass: "lose" }, { pass: "pass" }) },
  { weight: 1, arbitrary: fc.record({ trim: fc.nat(12) }) },
);

/** A change as the test knows it. */
interface Known {
  readonly seq: number;
  readonly about: string;
  readonly bytes: number;
}

function bytesOf(known: readonly Known[]): number {
  return known.reduce((sum, { bytes }) => sum + bytes, 0);
}

test("from any place on: the newest change of each thing, once and in order, and nothing is missing unless it says so", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.nat(200), (steps, from) => {
      const log = new ChangeLog<string>(12);
      let known: Known[] = [];
      let [seq, lost] = [0, 0];
      const trim = (bytes: number) => {
        while (bytesOf(known) > bytes) {
          const oldest = known.find((one) => one.bytes > 0);
          known = known.filter((one) => one !== oldest);
          lost = oldest?.seq ?? 0;
        }
      };
      for (const next of steps) {
        if ("put" in next) {
          const { put: about, bytes } = next;
          const before = known.find((one) => one.about === about);
          assert.equal(log.put(about, about, bytes)?.seq ?? 0, before?.seq ?? 0);
          known = [...known.filter((one) => one !== before), { seq: ++seq, about, bytes }];
          trim(12);
        } else if ("trim" in next) {
          log.trim(next.trim);
          trim(next.trim);
        } else if ("remove" in next) {
          log.remove(next.remove);
          known = known.filter(({ about }) => about !== next.remove);
        } else {
          seq++;
          if (next.pass === "pass") assert.equal(log.pass(), seq);
          else {
            log.lose();
            lost = seq;
          }
        }
      }
      assert.deepEqual([log.newest, log.lost], [seq, lost]);
      assert.equal(log.bytes, bytesOf(known));
      const read = [...log.after(from)].map(({ seq: place, value }) => [place, value]);
      assert.deepEqual(
        read,
        known.filter((one) => one.seq > from).map((one) => [one.seq, one.about]),
      );
      const some = [...log.some(["a", "b", "x"], from)].map(({ seq: place }) => place);
      const wanted = known.filter(({ about, bytes }) => bytes > 0 || about === "a" || about === "b");
      assert.deepEqual(
        some,
        wanted.filter((one) => one.seq > from).map((one) => one.seq),
      );
    }),
  );
});

test("a reader owes one change of a thing, however often that changed meanwhile", () => {
  const log = new ChangeLog<number>(0);
  for (let change = 0; change < 100_000; change++) log.put(`device ${change % 10}`, change);
  assert.deepEqual(
    [...log.after(0)].map(({ value }) => value),
    Array.from({ length: 10 }, (_, index) => 99_990 + index),
  );
});
