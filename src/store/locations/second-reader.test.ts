import assert from "node:assert/strict";
import { test } from "node:test";
import type { Link, ReaderCalls } from "./calls.ts";
import { SecondReader } from "./second-reader.ts";

/** A link that notes who was asked what. `starts`: what becomes of the calls that start its thread, in turn. */
function link(name: string, asked: string[], starts: Promise<null>[] = []): Link<ReaderCalls> {
  return {
    call: (call: string) => {
      asked.push(`${name} ${call}`);
      return call === "check" ? (starts.shift() ?? Promise.resolve(null)) : Promise.resolve(true);
    },
  } as unknown as Link<ReaderCalls>;
}

test("the first reader answers until the second stands, and a start that fails is tried again", async () => {
  const asked: string[] = [];
  const started = Promise.withResolvers<null>();
  const starts = [Promise.reject(new Error("no memory")), started.promise];
  const reader = new SecondReader(link("first", asked), link("second", asked, starts));
  await reader.call("holdsAny", [1]);
  await new Promise((resolve) => setImmediate(resolve));
  await reader.call("holdsAny", [2]);
  await reader.call("holdsAny", [3]);
  assert.equal(reader.stands, false);
  started.resolve(null);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(reader.stands, true);
  await reader.call("holdsAny", [4]);
  assert.deepEqual(asked, [
    "second check",
    "first holdsAny",
    "second check",
    "first holdsAny",
    "first holdsAny",
    "second holdsAny",
  ]);
});
