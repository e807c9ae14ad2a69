import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { h02 } from "./index.ts";

const receivedAt = Date.UTC(2026, 1, 4);
const context = { receivedAt, transport: "udp", identified: true, options: {} } as const;

/** The times of the positions that a datagram holds. */
const times = (text: string) =>
  h02
    .connect()
    .decode(bytesOfLatin1(text), context)
    .flatMap((effect) => (effect.type === "fix" ? [effect.time] : []));

test("a sentence that was cut off is no position of the moment in which it came", () => {
  const whole = "*HQ,1000000001,V1,101630,A,5107.5000,N,01344.2500,E,010.50,090,030226,FFFFFBFF,262,1,4660,22136#";
  const own = Date.UTC(2026, 1, 3, 10, 16, 30);
  assert.deepEqual(times(whole), [own]);
  const status = whole.indexOf(",262");
  for (let length = 1; length < whole.length; length++)
    assert.deepEqual(times(whole.slice(0, length)), length < status ? [] : [own], whole.slice(0, length));
});

test("a whole sentence without a date is a position of the moment in which it came", () => {
  for (const date of ["", "0", "000000"])
    assert.deepEqual(times(`*HQ,1000000001,V1,,A,5107.5000,N,01344.2500,E,010.50,090,${date},FFFFFBFF#`), [receivedAt]);
});
