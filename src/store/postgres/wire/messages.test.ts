import assert from "node:assert/strict";
import { it } from "node:test";
import { Messages } from "./messages.ts";

/** A message as a server sends it. `size`: what it says of itself. */
function frame(kind: string, body: string, size = body.length + 4): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind, "latin1");
  head.writeInt32BE(size, 1);
  return Buffer.concat([head, Buffer.from(body)]);
}

it("messages are the same wherever what comes is cut", () => {
  const all = Buffer.concat([frame("N", "a notice"), frame("D", ""), frame("S", "name\0value\0"), frame("Z", "I")]);
  for (let one = 0; one <= all.length; one++)
    for (let other = one; other <= all.length; other++) {
      const told: string[] = [];
      const messages = new Messages((kind, body) => told.push(`${kind}${body.toString()}`));
      for (const piece of [all.subarray(0, one), all.subarray(one, other), all.subarray(other)]) messages.add(piece);
      assert.deepEqual(told, ["Na notice", "D", "Sname\0value\0", "ZI"]);
    }
});

for (const size of [3, 0, -1, -(2 ** 31)])
  it(`refuses a message whose length is ${size} bytes`, () => {
    const messages = new Messages(() => {
      throw new Error("it was told");
    });
    assert.throws(() => messages.add(frame("D", "", size)), /a message with the impossible length -?\d+: look/);
  });
