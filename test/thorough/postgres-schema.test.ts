import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { before, describe, it } from "node:test";
import fc from "fast-check";
import { sql } from "kysely";
import { openPostgresRows } from "../../src/store/postgres/open.ts";
import { processTables } from "../../src/store/postgres/process-tables.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore } from "../support/store.ts";

interface Table {
  /** Name, type, and whether it may be null. */
  readonly columns: readonly string[];
  readonly primaryKey: string;
  /** Other indexes: columns, and their conditions. */
  readonly indexes: readonly string[];
}

type Tables = ReadonlyMap<string, Table>;

const types: Readonly<Record<string, string>> = {
  integer: "integer",
  bigint: "integer",
  text: "text",
  blob: "bytes",
  bytea: "bytes",
  "double precision": "double",
};

function column(name: unknown, type: unknown, required: boolean): string {
  return `${name} ${types[String(type).toLowerCase()] ?? `unknown ${type}`}${required ? " not null" : ""}`;
}

function index(unique: boolean, columns: string, condition: string): string {
  const plain = condition
    .toLowerCase()
    .replaceAll(/::text|["()]/g, "")
    .trim();
  return `${unique ? "unique " : ""}(${columns})${plain === "" ? "" : ` where ${plain}`}`;
}

function tablesOfSqlite(database: DatabaseSync): Tables {
  const ask = (question: string) => database.prepare(question).all();
  const names = ask("select name from sqlite_master where type = 'table' and name not like 'sqlite%'").map(({ name }) =>
    String(name),
  );
  return new Map(
    names.map((name) => {
      const columns = ask(`pragma table_info("${name}")`);
      const indexes = ask(`pragma index_list("${name}")`).filter(({ origin }) => origin !== "pk");
      return [
        name,
        {
          columns: columns.map((one) => column(one.name, one.type, one.notnull === 1 || one.pk !== 0)),
          primaryKey: columns
            .filter(({ pk }) => pk !== 0)
            .toSorted((one, other) => Number(one.pk) - Number(other.pk))
            .map((one) => one.name)
            .join(),
          indexes: indexes
            .map((one) => {
              const parts = ask(`pragma index_info("${one.name}")`)
                .map((part) => part.name)
                .join();
              const [made] = ask(`select sql from sqlite_master where name = '${one.name}'`);
              return index(one.unique === 1, parts, /\bwhere\b(.*)$/is.exec(String(made?.sql ?? ""))?.[1] ?? "");
            })
            .toSorted(),
        },
      ];
    }),
  );
}

const postgresTables = `select relname::text as name,
  (select json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod), 'required', attnotnull,
    'collation', (select collname from pg_collation where oid = attcollation)) order by attnum)
    from pg_attribute where attrelid = found.oid and attnum > 0 and not attisdropped) as columns,
  (select json_agg(json_build_object('primary', indisprimary, 'unique', indisunique, 'where', pg_get_expr(indpred, indrelid),
    'columns', (select string_agg(pg_get_indexdef(indexrelid, place, true), ',' order by place) from generate_series(1, indnkeyatts) as place)))
    from pg_index where indrelid = found.oid) as indexes
  from pg_class as found where relkind = 'r' and relnamespace = current_schema()::regnamespace`;

interface PostgresTable {
  readonly name: string;
  readonly columns: readonly {
    readonly name: string;
    readonly type: string;
    readonly required: boolean;
    readonly collation: string | null;
  }[];
  readonly indexes: readonly {
    readonly primary: boolean;
    readonly unique: boolean;
    readonly where: string | null;
    readonly columns: string;
  }[];
}

function tableOfPostgres({ columns, indexes }: PostgresTable): Table {
  const plain = (list: string) => list.replaceAll('"', "");
  return {
    columns: columns.map(({ name, type, required }) => column(name, type, required)),
    primaryKey: plain(indexes.find(({ primary }) => primary)?.columns ?? ""),
    indexes: indexes
      .filter(({ primary }) => !primary)
      .map((one) => index(one.unique, plain(one.columns), one.where ?? ""))
      .toSorted(),
  };
}

describe("the tables of PostgreSQL", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });

  async function postgres() {
    const rows = await openPostgresRows(await server.database(), { log: silentLog });
    const found = await sql<{
      name: string;
      columns: string;
      indexes: string | null;
    }>`${sql.raw(postgresTables)}`.execute(rows.tables);
    // One process has a data folder.
    const common = found.rows.filter(({ name }) => !processTables.includes(name));
    const tables = common.map(
      ({ name, columns, indexes }): PostgresTable => ({
        name,
        columns: JSON.parse(columns),
        indexes: JSON.parse(indexes ?? "[]"),
      }),
    );
    return { rows, tables };
  }

  it("are those of SQLite: columns, keys, indexes and triggers", async () => {
    const directory = await mkdtemp(join(tmpdir(), "waybeam-schema-"));
    const store = await openStore(directory);
    await store.close();
    const sqlite = new DatabaseSync(join(directory, "waybeam.db"), { readOnly: true });
    const { rows, tables } = await postgres();
    const parsed = tables.map((table) => [table.name, tableOfPostgres(table)] as const);
    assert.deepEqual(new Map(parsed.toSorted()), new Map([...tablesOfSqlite(sqlite)].toSorted()));
    const triggers = await sql<{
      name: string;
    }>`select tgname::text as name from pg_trigger where not tgisinternal order by 1`.execute(rows.tables);
    const known = sqlite.prepare("select name from sqlite_master where type = 'trigger' order by name").all();
    assert.deepEqual(
      triggers.rows.map(({ name }) => name).toSorted(),
      known.map(({ name }) => String(name)).toSorted(),
    );
    sqlite.close();
    await rows.close();
    await rm(directory, { recursive: true });
  });

  it("compare texts by their bytes, whatever the database's own order is", async () => {
    const { rows, tables } = await postgres();
    const texts = tables.flatMap(({ name: table, columns }) =>
      columns.filter(({ type }) => type === "text").map((one) => ({ table, ...one })),
    );
    assert.ok(texts.length > 50);
    assert.deepEqual(
      texts.filter(({ collation }) => collation !== "C"),
      [],
    );
    const { rows: own } = await sql<{ b: boolean }>`select 'a' < 'B' as b`.execute(rows.tables);
    assert.equal(own[0]?.b, true, "the test's database has an order of its own");
    await rows.close();
  });

  it("are made once by services that start at once", async () => {
    const url = await server.database();
    const opened = await Promise.all(Array.from({ length: 4 }, () => openPostgresRows(url, { log: silentLog })));
    await Promise.all(opened.map((rows) => rows.check()));
    await Promise.all(opened.map((rows) => rows.close()));
  });

  it("have JSON functions that find what JavaScript finds", async () => {
    const { rows } = await postgres();
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: fc.constantFrom("\0", "\\", "u0000", '"', "\u{10ffff}", "0", "1", "a") }),
    );
    const list = fc.array(text, { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(list, list, text, async (one, other, needle) => {
        const document = JSON.stringify({ list: one, deep: { list: other, text: needle }, none: null });
        const found = await sql<Record<string, unknown>>`select
          array(select value from json_each(${document}, '$.deep.list')) = array(select value from json_each(${JSON.stringify(other)})) as same,
          json_array_length(${document}, '$.list') as length, json_array_length(${document}, '$.none.x') as missing,
          json_extract(${document}, '$.deep.text') as text, json_valid(${document}) as valid, json_valid(${`${document}}`}) as invalid,
          ${needle}::text in (select value from json_each(${document}, '$.list')) as within,
          (select count(*) from json_each(${document}, '$.text')) as scalar`.execute(rows.tables);
        assert.deepEqual(found.rows[0], {
          ...{ same: true, length: one.length, missing: null, text: needle, valid: true, invalid: false },
          ...{ within: one.includes(needle), scalar: 0 },
        });
        const each = await sql<{ value: string }>`select value from json_each(${document}, '$.list')`.execute(
          rows.tables,
        );
        assert.deepEqual(
          each.rows.map(({ value }) => value),
          one,
        );
      }),
      { numRuns: 200 },
    );
    await rows.close();
  });

  it("keep any text and any bytes, and refuse numbers that would come back as others", async () => {
    const { rows } = await postgres();
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom("\0", "\u{10ffff}", "0", "1"), fc.string({ unit: "grapheme", maxLength: 2 })),
    });
    await fc.assert(
      fc.asyncProperty(text, fc.uint8Array({ maxLength: 40 }), async (value, bytes) => {
        await rows.tables
          .insertInto("setting")
          .values({ name: `n${value}`, value })
          .onConflict((on) => on.column("name").doUpdateSet({ value }))
          .execute();
        const found = await rows.tables.selectFrom("setting").select("value").where("name", "=", `n${value}`).execute();
        assert.deepEqual(found, [{ value }]);
        const { rows: back } = await sql<{ bytes: unknown }>`select ${bytes}::bytea as bytes`.execute(rows.tables);
        assert.deepEqual(back, [{ bytes }]);
      }),
      { numRuns: 100 },
    );
    const { rows: numbers } =
      await sql`select 9007199254740991::bigint as most, sum(x)::numeric as sum, 0.5::numeric as half, 0.1::float8 as tenth
      from (values (1::bigint), (2)) as list (x)`.execute(rows.tables);
    assert.deepEqual(numbers, [{ most: Number.MAX_SAFE_INTEGER, sum: 3, half: 0.5, tenth: 0.1 }]);
    await assert.rejects(sql`select 9007199254740993::bigint as more`.execute(rows.tables), RangeError);
    // The connection is as good as before.
    await rows.check();
    await rows.close();
  });
});
