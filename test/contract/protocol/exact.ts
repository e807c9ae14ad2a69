import assert from "node:assert/strict";
import { asJson, play, playRows, replayOf } from "../../support/vectors.ts";
import { assertWellFormed } from "../../support/well-formed.ts";
import type { Check } from "./check.ts";

/** What vectors say outright: effects, rows, commands. */
export const exactChecks: readonly Check[] = [
  {
    title: "gives exactly the effects of its vectors",
    run(protocol, vectors) {
      for (const vector of vectors) {
        const effects = play(protocol, vector);
        assert.deepEqual(effects.map(asJson), vector.effects, vector.name);
        effects.flat().forEach(assertWellFormed);
      }
    },
  },
  {
    title: "has a vector for every row of its table, each with a name of its own and a source",
    run(protocol, vectors) {
      const rows = new Set<string>();
      for (const vector of vectors) {
        for (const { row } of playRows(protocol, vector)) rows.add(row);
        assert.ok(vector.source.length > 0, `${vector.name} has no source`);
      }
      assert.deepEqual(
        protocol.messageNames.filter((name) => !rows.has(name)),
        [],
        "rows without a vector",
      );
      assert.equal(new Set(vectors.map((vector) => vector.name)).size, vectors.length, "two vectors share a name");
    },
  },
  {
    title: "masks the secret of its messages, and says who sent them all the same",
    run(protocol, vectors) {
      for (const vector of vectors) {
        for (const message of vector.input.messages) {
          const secretsOf = (bytes: Uint8Array) =>
            replayOf(protocol, vector)
              .recorded(bytes)
              .filter((effect) => effect.type === "identify");
          const told = secretsOf(message).filter(({ secret }) => secret !== undefined);
          if (told.length === 0) continue;
          assert.ok(protocol.secret, `${vector.name}: the protocol does not say where its messages carry the secret`);
          const masked = protocol.secret.mask(message);
          assert.equal(masked.length, message.length, vector.name);
          const seen = secretsOf(masked);
          assert.deepEqual(
            seen.map(({ ids }) => ids),
            told.map(({ ids }) => ids),
            vector.name,
          );
          for (const { secret } of seen) assert.match(secret ?? "", /^\**$/, vector.name);
        }
      }
    },
  },
  {
    title: "wraps commands as its vectors say",
    run(protocol, vectors) {
      for (const vector of vectors) {
        if (vector.command === undefined) continue;
        const replay = replayOf(protocol, vector);
        for (const message of vector.input.messages) replay.recorded(message);
        const { text, device, expected } = vector.command;
        const encoded = replay.connection.command(text, device, 0);
        if ("bytes" in expected) {
          assert.ok(encoded instanceof Uint8Array, `${vector.name}: ${JSON.stringify(encoded)}`);
          assert.equal(encoded.toHex(), expected.bytes.toHex(), vector.name);
        } else assert.ok(encoded !== undefined && "refused" in encoded, vector.name);
      }
    },
  },
];
