import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { tailBytes } from "../../src/store/postgres/chunk-rows.ts";
import { mostRecordBytes, packRecords, recordBytes } from "../../src/store/records/packed-rows.ts";
import { record } from "../contract/store/records.ts";
import { World } from "../support/any-order.ts";
import { packedRecords } from "../support/blocks.ts";
import { sealsByBytes } from "../support/packed-rows.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { openPostgres } from "../support/postgres-store.ts";

describe("packed rows in PostgreSQL", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });

  it("tell the bytes of their records to SQL as to the program, and damaged ones fail no query", async () => {
    const mark = Buffer.alloc(4, 0xff);
    const plain = packedRecords(Array.from({ length: 20 }, (_, at) => record(at)));
    const rows = [plain, packRecords(plain), Buffer.alloc(0), mark];
    for (const lie of ["0000-100", "1e6     ", "99999999", "1234567", "\0\0\0\0\0\0\0\0", "\xff\xfe5\\000001"])
      rows.push(Buffer.concat([mark, Buffer.from(lie, "latin1"), Buffer.alloc(9)]));
    const values = rows.map((row) => `(decode('${Buffer.from(row).toString("hex")}', 'hex'))`);
    const database = new URL(await server.database()).pathname.slice(1);
    const found = await server.ask(
      database,
      `select (${tailBytes})::float8 as bytes from (values ${values.join(", ")}) as t (data)`,
    );
    const told = found.map(({ bytes }) => Number(bytes));
    assert.equal(told[0], plain.length);
    assert.deepEqual(told.slice(0, 4), rows.slice(0, 4).map(recordBytes));
    for (const bytes of told) assert.ok(bytes >= 0 && bytes <= mostRecordBytes, String(told));
  });

  it("are known by the bytes of their records in the index, also after a start", async (context) => {
    await sealsByBytes(context, new World(await server.database(), openPostgres));
  });
});
