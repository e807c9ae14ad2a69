import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { opensConnection } from "../../test/contract/protocol/detection.ts";
import { concat, cutAt, loadVectors, streamOf } from "../../test/support/vectors.ts";
import { protocols } from "../protocols/index.ts";
import { bytesOfLatin1 } from "../wire/reader.ts";
import { Opening } from "./opening.ts";

/** What a connection's bytes are taken for that arrive in these pieces, and what is read of them then. */
function taken(pieces: readonly Uint8Array[]): { readonly found: string; readonly bytes: Uint8Array } {
  const opening = new Opening(protocols, "tcp");
  let found = opening.take(new Uint8Array(0), false);
  for (const piece of pieces) if (found === "undecided") found = opening.take(piece, false);
  if (found === "undecided") found = opening.take(new Uint8Array(0), true);
  return { found: typeof found === "string" ? found : found.id, bytes: opening.bytes };
}

describe("an opening behind line ends and blanks", () => {
  for (const protocol of protocols)
    it(`is of ${protocol.id} as without them`, () => {
      for (const vector of loadVectors(protocol.id)) {
        const stream = vector.transport === "tcp" && opensConnection(vector) ? streamOf(protocol, vector) : undefined;
        if (stream === undefined) continue;
        for (const blanks of ["\r\n", "\n\n", " ", " \t\r\n"])
          for (const places of [[], [1, 2, 3, 4, 5, 9]]) {
            const whole = concat([bytesOfLatin1(blanks), ...stream]);
            assert.equal(taken(cutAt(whole, places)).found, protocol.id, `${vector.name} ${JSON.stringify(blanks)}`);
          }
      }
    });

  it("is no opening of its own where a length looks like them", () => {
    // Ruptela: a packet of 3,583 bytes, of which the rest would be a ping of Teltonika.
    const packet = new Uint8Array(3587).fill(0x31);
    packet.set([0x0d, 0xff, 0x00, 0x03]);
    assert.equal(taken([packet.subarray(0, 1000), packet.subarray(1000)]).found, "ruptela");
  });

  it("begins behind them", () => {
    const login = Uint8Array.fromHex("78780d0103500000000000170001ca070d0a");
    const { found, bytes } = taken([bytesOfLatin1("\r\n"), login]);
    assert.equal(found, "gt06");
    assert.deepEqual(Uint8Array.from(bytes), login);
  });
});
