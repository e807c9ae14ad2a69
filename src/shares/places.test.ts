import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Places } from "./places.ts";

interface Connection {
  readonly share: string;
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
): readonly [readonly Connection[], boolean] {
  const all = [...open, { share: address, number: -1 }];
  const groups = [...new Set(all.map((connection) => connection.share))]
    .map((from) => all.filter((connection) => connection.share === from))
    .filter(({ length }) => length > share);
  const most = Math.max(0, ...groups.map(({ length }) => length));
  const oldest = groups.filter(({ length }) => length === most).flatMap((group) => group.slice(0, 1));
  return groups.length > 0 ? [oldest, true] : [open.slice(0, 1), false];
}

test("the oldest of the address that has most beyond its share makes room, else the oldest of all", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 60 }), (share, steps) => {
      const places = new Places<Connection>(share);
      let open: Connection[] = [];
      for (const [number, next] of steps.entries()) {
        if ("add" in next) {
          const connection = { share: next.add, number };
          places.add(connection);
          open.push(connection);
        } else {
          for (const gone of open.filter((connection) => connection.number === next.delete)) places.delete(gone);
          open = open.filter((connection) => connection.number !== next.delete);
        }
        assert.deepEqual([...places], open);
        assert.equal(places.size, open.length);
        const found = places.next("a");
        const [candidates, beyondShare] = expected(open, share, "a");
        if (found === undefined) assert.equal(open.length, 0);
        else {
          assert.ok(candidates.includes(found.connection));
          assert.equal(found.beyondShare, beyondShare);
        }
      }
    }),
  );
});

test("a connection that is refused again and again counts once", () => {
  const places = new Places<Connection>(1);
  const one = { share: "a", number: 1 };
  places.add(one);
  places.add(one);
  places.delete(one);
  places.delete(one);
  assert.equal(places.size, 0);
  assert.equal(places.next("a"), undefined);
});

test("of an address that is at its limit its own oldest makes room, of those that may; what was of use is the last", () => {
  const places = new Places<Connection>(1);
  const [a1, b1, a2] = [
    { share: "a", number: 1 },
    { share: "b", number: 2 },
    { share: "a", number: 3 },
  ];
  for (const connection of [a1, b1, a2]) places.add(connection);
  assert.equal(places.count("a"), 2);
  assert.equal(places.nextOf("a"), a1);
  assert.equal(
    places.nextOf("a", ({ number }) => number !== 1),
    a2,
  );
  places.renew(a1);
  assert.equal(places.nextOf("a"), a2);
  assert.equal(places.next("c", ({ share }) => share === "b")?.connection, b1);
  assert.equal(
    places.next("c", () => false),
    undefined,
  );
});

test("what is nobody's counts to no share, and makes room only as the oldest of all", () => {
  const places = new Places<{ share: string | undefined; number: number }>(1);
  const proxied = [1, 2, 3].map((number) => ({ share: undefined, number }));
  for (const connection of proxied) places.add(connection);
  assert.deepEqual(places.next("a"), { connection: proxied[0], beyondShare: false });
  const own = [4, 5].map((number) => ({ share: "a", number }));
  for (const connection of own) places.add(connection);
  assert.deepEqual(places.next(undefined), { connection: own[0], beyondShare: true });
  for (const connection of [...proxied, ...own]) places.delete(connection);
  assert.equal(places.size, 0);
});
