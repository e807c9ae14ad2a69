import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { h02 } from "./index.ts";

test("a confirmation is called by its command, also where that was written by hand; a text names nothing", () => {
  const expects = (text: string) => h02.expects(bytesOfLatin1(text));
  const wrapped = h02.connect().command("S20,1,1", "1000000001", 1);
  assert.ok(wrapped instanceof Uint8Array);
  assert.deepEqual(h02.expects(wrapped), { name: "S20" });
  assert.deepEqual(expects("*HQ,1000000001,R1,101500#"), { name: "R1" });
  for (const text of ["", "RCONF", "*", "*HQ,1000000001#", "$\0"]) assert.deepEqual(expects(text), {});
});
