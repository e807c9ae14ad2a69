import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { packRequests, unpackRequests } from "./context-requests.ts";

test("requests come back as they were packed", () => {
  const key = fc.nat(2 ** 31);
  const request = fc.record({
    device: key,
    seqs: fc.array(key, { maxLength: 5 }),
    place: fc.record({
      time: fc.double({ noNaN: true }),
      arrival: fc.oneof(fc.constantFrom(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY), fc.maxSafeNat()),
    }),
    bound: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.double({ noNaN: true })),
    limit: fc.nat(20_000),
    bytes: fc.maxSafeNat(),
  });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 5 }), (requests) => {
      assert.deepEqual(unpackRequests(packRequests(requests)), requests);
    }),
  );
});
