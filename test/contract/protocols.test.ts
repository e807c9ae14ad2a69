import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { protocols } from "../../src/protocols/index.ts";
import { loadVectors } from "../support/vectors.ts";
import { claimedByOthers } from "./protocol/detection.ts";
import { protocolContract } from "./protocol.contract.ts";

const all = protocols.map((protocol) => ({ protocol, vectors: loadVectors(protocol.id) }));

for (const { protocol, vectors } of all) protocolContract(protocol, vectors);

describe("detection", () => {
  it("gives every connection to the protocol whose vector it is, beside all the others", () => {
    for (const { protocol, vectors } of all) assert.deepEqual(claimedByOthers(protocols, protocol, vectors), []);
  });
});
