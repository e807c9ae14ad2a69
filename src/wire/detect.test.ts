import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Effect } from "../model/effects.ts";
import { detectProtocol, openingBytes } from "./detect.ts";
import { frame, more } from "./framing.ts";
import { type AnyProtocol, type Certainty, defineProtocol } from "./protocol.ts";
import { bytesOfLatin1, latin1Of } from "./reader.ts";

const failed: readonly Effect[] = [{ type: "failure", cause: "malformed" }];
const unsummed: readonly Effect[] = [{ type: "failure", cause: "badChecksum", ids: ["1"] }];
const read: readonly Effect[] = [{ type: "ignored", reason: "heartbeat" }];
const identified: readonly Effect[] = [{ type: "identify", ids: ["1"] }];

/** A protocol of texts that end with `end`, which makes the same of each. */
function protocolOf(id: string, certainty: Certainty, effects: readonly Effect[], end = "#"): AnyProtocol {
  return defineProtocol<undefined>({
    id,
    title: id,
    transports: ["tcp", "udp"],
    defaultPort: 1,
    manuals: [],
    detect: () => certainty,
    framer: {
      maximum: 65_536,
      next(buffer, offset) {
        const length = latin1Of(buffer.subarray(offset)).indexOf(end);
        return length < 0 ? more : frame(offset, offset + length, offset + length + 1);
      },
    },
    session: undefined,
    classify: () => 0,
    messages: [{ name: "any", handle: (_bytes, session) => ({ session, effects }) }],
  });
}

function found(
  protocols: readonly AnyProtocol[],
  text = "text#",
  last = false,
  transport: "tcp" | "udp" = "tcp",
): string {
  const protocol = detectProtocol(protocols, bytesOfLatin1(text), transport, last);
  return typeof protocol === "string" ? protocol : protocol.id;
}

describe("detectProtocol", () => {
  it("takes the one that is sure, without waiting for its message", () => {
    assert.equal(found([protocolOf("a", "no", read), protocolOf("b", "sure", read)], "t"), "b");
    assert.equal(found([protocolOf("a", "maybe", identified), protocolOf("b", "sure", read)], "t"), "b");
    assert.equal(found([protocolOf("a", "no", read)]), "none");
  });
  it("lets all that are sure read the first message", () => {
    assert.equal(found([protocolOf("a", "sure", failed), protocolOf("b", "sure", read)]), "b");
    assert.equal(found([protocolOf("a", "sure", read), protocolOf("b", "sure", identified)]), "b");
    assert.equal(found([protocolOf("a", "sure", read), protocolOf("b", "sure", read)]), "a");
    assert.equal(found([protocolOf("a", "sure", identified), protocolOf("b", "sure", identified)], "tex"), "undecided");
  });
  it("waits where one reads the message and another one's is not whole", () => {
    const two = [protocolOf("a", "sure", read), protocolOf("b", "sure", identified, "!")];
    assert.equal(found(two), "undecided");
    assert.equal(found(two, "text#more!"), "b");
    assert.equal(found(two, "text#", true), "a");
    assert.equal(found(two, `#${"-".repeat(openingBytes)}`), "a");
  });
  it("takes one that says maybe once it reads the first message", () => {
    assert.equal(found([protocolOf("a", "maybe", read)], "text"), "undecided");
    assert.equal(found([protocolOf("a", "maybe", read)]), "a");
    assert.equal(found([protocolOf("a", "maybe", failed), protocolOf("b", "maybe", read)]), "b");
    assert.equal(found([protocolOf("a", "sure", failed), protocolOf("b", "maybe", identified)]), "b");
  });
  it("gives what nobody reads to the first that may have sent it, in the end", () => {
    const two = [protocolOf("a", "maybe", failed), protocolOf("b", "sure", failed)];
    assert.equal(found(two), "undecided");
    assert.equal(found(two, "text#", true), "b");
    assert.equal(found(two, `#${"-".repeat(255)}`), "b");
  });
  it("gives a message with a wrong checksum to who can say which device it is from", () => {
    const two = [protocolOf("a", "maybe", failed), protocolOf("b", "maybe", unsummed)];
    assert.equal(found(two), "b");
    assert.equal(found(two, "text#", true, "udp"), "b");
    assert.equal(found([...two, protocolOf("c", "maybe", read)]), "c");
    assert.equal(found([...two, protocolOf("c", "maybe", read, "!")]), "undecided");
    assert.equal(found([...two, protocolOf("c", "sure", failed)], "text#", true), "c");
    assert.equal(found([protocolOf("a", "maybe", failed, "!"), protocolOf("b", "sure", unsummed)]), "b");
  });
  it("gives what nobody can read to none of several that say maybe to anything", () => {
    const two = [protocolOf("a", "maybe", failed), protocolOf("b", "maybe", failed, "!")];
    assert.equal(found(two, "text#", true), "none");
    assert.equal(found(two, "text#", true, "udp"), "none");
    assert.equal(found(two.slice(0, 1), "text#", true), "a");
    assert.equal(found(two.slice(0, 1), "text#", true, "udp"), "none");
  });
});
