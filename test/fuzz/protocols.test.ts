import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { protocolById, protocols } from "../../src/protocols/index.ts";
import found from "./found.json" with { type: "json" };
import { Random } from "./mutate.ts";
import { play, Target } from "./target.ts";

/** Few, since they run with every test; `npm run fuzz` plays as many as one has time for. */
const inputs = 400;

describe("changed messages are endured", () => {
  for (const protocol of protocols)
    it(protocol.id, () => {
      const target = new Target(protocol);
      const random = new Random(20261126);
      for (let left = inputs; left > 0; left--) play(protocol, target.input(random));
    });
});

it("what `npm run fuzz` ever found is endured", () => {
  for (const { protocol: id, model, message } of found) {
    const protocol = protocolById(id);
    assert.ok(protocol, id);
    const known = { transport: protocol.transports[0] ?? "tcp", identified: true, model, format: undefined };
    play(protocol, { ...known, pieces: [Uint8Array.fromHex(message)], checksums: true });
  }
});
