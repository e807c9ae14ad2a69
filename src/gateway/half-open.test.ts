import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { HalfOpen } from "./half-open.ts";

interface Connection {
  readonly address: string;
  readonly number: number;
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ add: fc.constantFrom("a", "b", "c", "d") }) },
  { weight: 2, arbitrary: fc.record({ delete: fc.nat(60) }) },
);

/** What the class is to do, by going through all of them and the one that comes. */
function expected(
  open: readonly Connection[],
  share: number,
  address: string,
): readonly [readonly Connection[], "halfOpenShare" | "full"] {
  const all = [...open, { address, number: -1 }];
  const groups = [...new Set(all.map((connection) => connection.address))]
    .map((from) => all.filter((connection) => connection.address === from))
    .filter(({ length }) => length > share);
  const most = Math.max(0, ...groups.map(({ length }) => length));
  const oldest = groups.filter(({ length }) => length === most).flatMap((group) => group.slice(0, 1));
  return groups.length > 0 ? [oldest, "halfOpenShare"] : [open.slice(0, 1), "full"];
}

test("the oldest of the address that has most beyond its share makes room, else the oldest of all", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 60 }), (share, steps) => {
      const halfOpen = new HalfOpen<Connection>(share);
      let open: Connection[] = [];
      for (const [number, next] of steps.entries()) {
        if ("add" in next) {
          const connection = { address: next.add, number };
          halfOpen.add(connection);
          open.push(connection);
        } else {
          for (const gone of open.filter((connection) => connection.number === next.delete)) halfOpen.delete(gone);
          open = open.filter((connection) => connection.number !== next.delete);
        }
        assert.deepEqual([...halfOpen], open);
        assert.equal(halfOpen.size, open.length);
        const found = halfOpen.next("a");
        const [candidates, cause] = expected(open, share, "a");
        if (found === undefined) assert.equal(open.length, 0);
        else {
          assert.ok(candidates.includes(found.connection));
          assert.equal(found.cause, cause);
        }
      }
    }),
  );
});

test("a connection that is refused again and again counts once", () => {
  const halfOpen = new HalfOpen<Connection>(1);
  const one = { address: "a", number: 1 };
  halfOpen.add(one);
  halfOpen.add(one);
  halfOpen.delete(one);
  halfOpen.delete(one);
  assert.equal(halfOpen.size, 0);
  assert.equal(halfOpen.next("a"), undefined);
});
