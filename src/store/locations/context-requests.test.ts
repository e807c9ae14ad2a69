import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { packRequests, unpackRequests } from "./context-requests.ts";

test("requests come back as they were packed", () => {
  const key = fc.nat(2 ** 31);
  const plain = { noNullPrototype: true };
  const arrival = fc.oneof(fc.constantFrom(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY), fc.maxSafeNat());
  const place = fc.record({ time: fc.double({ noNaN: true }), arrival }, plain);
  const bound = fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.double({ noNaN: true }));
  const seqs = fc.array(key, { maxLength: 5 });
  const request = fc.record({ device: key, seqs, place, bound, limit: fc.nat(20_000), bytes: fc.maxSafeNat() }, plain);
  fc.assert(
    fc.property(fc.array(request, { maxLength: 5 }), (requests) => {
      assert.deepEqual(unpackRequests(packRequests(requests)), requests);
    }),
  );
});
