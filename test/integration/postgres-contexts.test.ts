import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { before, describe, it } from "node:test";
import type { Attributes } from "../../src/model/effects.ts";
import { BlockCache } from "../../src/store/locations/block-cache.ts";
import { contextOutcome } from "../../src/store/locations/calls.ts";
import { Connection, openReadingSession } from "../../src/store/postgres/connection.ts";
import { StoredChunks } from "../../src/store/postgres/stored-chunks.ts";
import type { Step } from "../../src/store/postgres/wire/messages.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, drive, World } from "../support/any-order.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { openPostgres, shortTimes } from "../support/postgres-store.ts";

/** Bytes of a report. */
const length = 28_000;
const count = 200;
/** Reports of a device: so few are not sealed. */
const each = 10;

/** Texts as long as they may be, which can't be packed. */
function long(): Attributes {
  const texts = Array.from(
    { length: 7 },
    (_, index) => [`text${index}`, randomBytes(3000).toString("base64")] as const,
  );
  return Object.fromEntries(texts);
}

describe("what surrounds many late reports", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });

  it("is read a few megabytes at a time", async (context) => {
    const url = await server.database();
    const world = new World(url, openPostgres);
    await world.start();
    const account = await makeAccount(world.store);
    for (let devices = 0; devices < count / each; devices++) {
      const admitted = await world.admitted((await makeDevice(world.store, account.key)).id);
      for (const fix of drive(chance(1), each)) await world.deliver(admitted, [{ ...fix, attributes: long() }]);
    }
    await world.stop();
    const stored = await server.ask(
      new URL(url).pathname.slice(1),
      "select seq::int, device::int, first, octet_length(data) as bytes from tail order by seq",
    );
    assert.equal(stored.length, count);
    assert.ok(stored.every(({ bytes }) => Number(bytes) > length));
    const order = { url, isPlain: true, service: "a test", times: shortTimes };
    let most = 0;
    const connection = new Connection(async () => {
      const session = await openReadingSession(order, "test");
      const run = session.run.bind(session);
      session.run = async (...steps: Step[]) => {
        const results = await run(...steps);
        // Rows with their bytes that came by one round trip.
        const rows = steps.map(({ statement }, index) => (/_rows$/.test(statement.name) ? results[index]?.rows : []));
        most = Math.max(most, rows.flat().length);
        return results;
      };
      return session;
    });
    context.after(() => connection.close());
    const chunks = new StoredChunks(connection, new BlockCache(1));
    const asked = { bound: Number.POSITIVE_INFINITY, limit: 10, bytes: 100_000 };
    const requests = stored.map(({ seq, device, first }) => ({
      ...asked,
      device: Number(device),
      seqs: [Number(seq)],
      place: { time: Number(first), arrival: Number.NEGATIVE_INFINITY },
    }));
    const { table, failures } = await chunks.contexts(requests);
    assert.deepEqual(failures, []);
    const outcomes = Array.from({ length: count }, (_, index) => table[index * 4 + 3]);
    assert.deepEqual([...new Set(outcomes)], [contextOutcome.all]);
    assert.ok(most > 1 && most * length <= 4 * 1024 * 1024, `${most} chunks were read at once`);
  });
});
