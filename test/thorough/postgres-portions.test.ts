import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { before, describe, it, type TestContext } from "node:test";
import type { Attributes } from "../../src/model/effects.ts";
import { BlockCache } from "../../src/store/locations/block-cache.ts";
import { contextOutcome } from "../../src/store/locations/calls.ts";
import { readingConnection } from "../../src/store/postgres/connection.ts";
import { addressOf, type Order } from "../../src/store/postgres/orders.ts";
import { StoredChunks } from "../../src/store/postgres/stored-chunks.ts";
import { StoredRows } from "../../src/store/postgres/stored-rows.ts";
import { drop } from "../../src/store/postgres/swap.ts";
import type { Step } from "../../src/store/postgres/wire/messages.ts";
import { Session } from "../../src/store/postgres/wire/session.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, drive, World } from "../support/any-order.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { openPostgres, shortTimes } from "../support/postgres-store.ts";

/** Bytes of a report. */
const length = 28_000;
const mostBytes = 4 * 1024 * 1024;

/** Texts as long as they may be, which can't be packed. */
function long(): Attributes {
  // Each letter takes a byte and tells as much as fits into it.
  const letters = () => Array.from(randomBytes(4000), (byte) => String.fromCharCode(35 + (byte % 90))).join("");
  const texts = Array.from({ length: 7 }, (_, index) => [`text${index}`, letters().replaceAll("\\", "/")] as const);
  return Object.fromEntries(texts);
}

/** Statements that give rows with their bytes. */
const withBytes: ReadonlySet<string> = new Set(["tail_rows", "block_rows", "rows", "tail_bytes", "block_bytes"]);

/** Counts the rows that come with their bytes by one round trip. */
function counted(session: Session): { most: number } {
  const count = { most: 0 };
  const run = session.run.bind(session);
  session.run = async (...steps: Step[]) => {
    const results = await run(...steps);
    const rows = steps.flatMap(({ statement }, index) =>
      withBytes.has(statement.name) ? (results[index]?.rows ?? []) : [],
    );
    count.most = Math.max(count.most, rows.length);
    return results;
  };
  return count;
}

describe("what is read of many long chunks", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });

  /** A database with `devices` of `each` long reports, and a way to what is stored in it. */
  async function filled(devices: number, each: number, packet: number, seals = false) {
    const url = await server.database();
    const world = new World(url, openPostgres);
    await world.start();
    const account = await makeAccount(world.store);
    for (let made = 0; made < devices; made++) {
      const { id, key } = await makeDevice(world.store, account.key);
      const admitted = await world.admitted(id);
      const fixes = drive(chance(1), each).map((fix) => ({ ...fix, attributes: long() }));
      for (let at = 0; at < each; at += packet) await world.deliver(admitted, fixes.slice(at, at + packet));
      if (seals) await world.store.seal(key);
    }
    await world.stop();
    const ask = (sql: string) => server.ask(new URL(url).pathname.slice(1), sql);
    const order: Order = { url, isPlain: true, service: "a test", times: shortTimes };
    return { order, ask };
  }

  /** Twenty devices with ten chunks each, of one report. So few are not sealed. */
  async function tailOf200(context: TestContext) {
    const { order, ask } = await filled(20, 10, 1);
    const stored = await ask("select seq::int, device::int, first, octet_length(data) as bytes from tail order by seq");
    assert.equal(stored.length, 200);
    assert.ok(stored.every(({ bytes }) => Number(bytes) > length));
    const connection = readingConnection(order, "test");
    context.after(() => connection.close());
    return { stored, connection, count: counted(await connection.session()) };
  }

  it("what surrounds late reports is a few megabytes at a time", async (context) => {
    const { stored, connection, count } = await tailOf200(context);
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
    const outcomes = stored.map((_, index) => table[index * 4 + 3]);
    assert.deepEqual([...new Set(outcomes)], [contextOutcome.all]);
    assert.ok(count.most > 1 && count.most * length <= mostBytes, `${count.most} chunks were read at once`);
  });

  it("the rows of which states are made are a few megabytes at a time", async (context) => {
    const { stored, connection, count } = await tailOf200(context);
    const rows = new StoredRows(connection);
    const seqs = stored.map(({ seq }) => Number(seq));
    for (let from = 0; from < seqs.length; ) {
      const { ends, bytes } = await rows.rows(seqs.slice(from));
      assert.ok(ends.length > 1 && bytes.byteLength <= mostBytes);
      const sizes = ends.map((end, index) => end - (ends[index - 1] ?? 0));
      assert.deepEqual(
        [...sizes],
        stored.slice(from, from + sizes.length).map(({ bytes: size }) => Number(size)),
      );
      from += ends.length;
    }
    assert.ok(count.most > 1 && count.most * length <= mostBytes, `${count.most} rows were read at once`);
  });

  it("old blocks without checksums are checked a few megabytes at a time", async (context) => {
    const { order, ask } = await filled(1, 500, 20, true);
    await ask("update block set crc = null");
    const blocks = await ask(
      "select seq::int, device::int, count::int, octet_length(data) as bytes from block join block_data using (seq) order by first",
    );
    const average = blocks.reduce((sum, { bytes }) => sum + Number(bytes), 0) / blocks.length;
    assert.ok(average * blocks.length > 2 * mostBytes, `${blocks.length} blocks of ${average} bytes`);
    const session = await Session.open({
      address: addressOf(order),
      times: shortTimes,
      name: "",
      settings: {},
    });
    context.after(() => session.end());
    const count = counted(session);
    const [stays, ...old] = blocks.toReversed();
    const request = {
      device: Number(stays?.device),
      seqs: old.map(({ seq }) => Number(seq)),
      count: old.reduce((sum, { count: records }) => sum + Number(records), 0),
      stays: Number(stays?.seq),
    };
    const [damaged] = request.seqs.slice(-1);
    await ask(`update block_data set data = set_byte(data, 3, get_byte(data, 3) # 1) where seq = ${damaged}`);
    assert.deepEqual(await drop(session, request), { done: false, damaged: [damaged] });
    assert.ok(count.most > 1 && count.most * average <= 1.5 * mostBytes, `${count.most} blocks were read at once`);
    await ask(`update block_data set data = set_byte(data, 3, get_byte(data, 3) # 1) where seq = ${damaged}`);
    assert.deepEqual(await drop(session, request), { done: true, damaged: [] });
    assert.deepEqual(await ask("select seq::int from block"), [{ seq: request.stays }]);
  });
});
