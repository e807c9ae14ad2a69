import { describe, it } from "node:test";
import { protocols } from "../../src/protocols/index.ts";
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
