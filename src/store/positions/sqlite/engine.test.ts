import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { everything, readAll, said, sortedOnce, start } from "../../../../test/contract/positions/said.ts";
import { runs } from "../../../../test/support/runs.ts";
import { silentLog } from "../../../../test/support/silent-log.ts";
import { noTotals } from "../../../model/location.ts";
import { StoreUnavailable } from "../../../ports/store.ts";
import { openSqlitePositions, type SqlitePositions, type SqlitePositionsOptions } from "./open.ts";

/** Packs everything that was appended. */
function pack(store: SqlitePositions): Promise<void> {
  store.followed(Number.POSITIVE_INFINITY);
  return store.pack();
}

/** A database file of its own, its engines, and what it was told. */
function place(context: TestContext, options: Partial<SqlitePositionsOptions> = {}) {
  const directory = mkdtempSync(join(tmpdir(), "waybeam-positions-"));
  const file = join(directory, "positions.db");
  const stores: SqlitePositions[] = [];
  const told: object[] = [];
  const log = { ...silentLog, error: (what: object) => void told.push(what) };
  context.after(async () => {
    for (const store of stores) await store.close();
    rmSync(directory, { recursive: true });
  });
  const open = async () => {
    const store = await openSqlitePositions({ file, log, ...options });
    stores.push(store);
    return store;
  };
  const change = (sql: string) => {
    const database = new DatabaseSync(file);
    database.exec(sql);
    database.close();
  };
  return { open, change, told, file };
}

/** SQL that changes the last byte but so many of a row. */
function flipped(table: "log" | "block", where: string, behind = 0): string {
  const at = `length(data) - ${behind}`;
  const other = `case when hex(substr(data, ${at}, 1)) = 'FF' then x'00' else x'FF' end`;
  return `update ${table} set data = cast(substr(data, 1, ${at} - 1) || ${other} || substr(data, ${at} + 1) as blob) where ${where}`;
}

const seconds = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => said(from + at));

describe("a damaged row of the log", () => {
  it("costs the device whose bytes they are that row, and is named; packing keeps what is left of it", async (context) => {
    const { open, change, told } = place(context);
    const store = await open();
    await store.append([
      { device: 1, records: [said(1)] },
      { device: 2, records: [said(2)] },
    ]);
    await store.append([1, 2].map((device) => ({ device, records: [said(3)] })));
    change(flipped("log", "seq = 1"));
    const unreadable = [{ from: start + 2000, to: start + 2999.999, what: "log row 1: a checksum is wrong" }];
    assert.deepEqual(await readAll(store, 2), { records: [said(3)], unreadable });
    assert.deepEqual(await readAll(store, 1), { records: [said(1), said(3)], unreadable: [] });
    await pack(store);
    assert.deepEqual(told.at(-1), { what: "log row 1, device 2: a checksum is wrong" });
    assert.equal(store.figures().damaged, 1);
    assert.equal(store.figures().logRows, 0);
    const { records, unreadable: packed } = await readAll(store, 2);
    assert.deepEqual(records, [said(3)]);
    assert.match(packed[0]?.what ?? "", /^block \d+: these bytes are no block/);
    assert.deepEqual(await readAll(store, 1), { records: [said(1), said(3)], unreadable: [] });
    await store.deleteBefore(2, start + 60_000);
    assert.deepEqual(await readAll(store, 2), { records: [], unreadable: [] });
  });

  it("whose directory is damaged is named at the start, and everything else goes on", async (context) => {
    const { open, change, told } = place(context);
    const before = await open();
    for (const second of [1, 2, 3]) await before.append([{ device: 1, records: [said(second)] }]);
    await before.close();
    change("update log set data = cast(substr(data, 1, 20) || x'FF' || substr(data, 22) as blob) where seq = 2");
    const store = await open();
    assert.deepEqual(told, [{ what: "log row 2: its directory or its page can't be read" }]);
    await store.append([{ device: 1, records: [said(4)] }]);
    assert.deepEqual((await readAll(store, 1)).records, [said(1), said(3), said(4)]);
    await pack(store);
    assert.deepEqual(told.at(-1), { row: 2 });
    assert.deepEqual((await readAll(store, 1)).records, [said(1), said(3), said(4)]);
    assert.equal(store.figures().logRows, 0);
  });

  it("on a page that can't be read costs the rows of that page", async (context) => {
    const { open, file } = place(context);
    const before = await open();
    const note = `,"attributes":{"a":"${"x".repeat(3000)}"`;
    for (const second of [1, 2, 3])
      await before.append([{ device: second, records: [said(second, { extras: note })] }]);
    await before.close();
    const database = new DatabaseSync(file);
    const { pageno } =
      database
        .prepare("select pageno from dbstat where name = 'log' and pagetype = 'leaf' order by path limit 1 offset 1")
        .get() ?? {};
    database.close();
    const handle = openSync(file, "r+");
    writeSync(handle, Buffer.alloc(4096, 0xaa), 0, 4096, (Number(pageno) - 1) * 4096);
    closeSync(handle);
    const store = await open();
    assert.equal(store.figures().damaged, 1);
    await store.append([{ device: 2, records: [said(9)] }]);
    const read = await Promise.all([1, 2, 3].map((device) => readAll(store, device)));
    assert.deepEqual(
      read.map(({ records }) => records.map(({ time }) => (time - start) / 1000)),
      [[1], [9], [3]],
    );
  });
});

describe("a damaged block", () => {
  it("is told by its time and its number; what else the device has, and what comes late, is read and kept", async (context) => {
    const { open, change, told } = place(context);
    const store = await open();
    const [damaged, whole] = [seconds(0, 600), seconds(2000, 2600)];
    await store.append([{ device: 1, records: damaged }]);
    await pack(store);
    await store.append([{ device: 1, records: whole }]);
    await pack(store);
    change(flipped("block", "id = 1", 10));
    const unreadable = [{ from: start, to: start + 599_000, what: "block 1: its checksum is wrong" }];
    assert.deepEqual(await readAll(store, 1), { records: whole, unreadable });
    for (let late = 100; late < 110; late++) {
      await store.append([{ device: 1, records: [said(late), said(2000 + late), said(5000 + late)] }]);
      await pack(store);
    }
    const after = await readAll(store, 1);
    assert.deepEqual(after.records, [...seconds(100, 110), ...whole, ...seconds(5100, 5110)]);
    assert.deepEqual(after.unreadable, unreadable);
    assert.deepEqual(told[0], { what: "block 1: its checksum is wrong, device 1" });
    assert.deepEqual((await readAll(store, 1, { from: start + 2000_000, to: start + 9e6 })).unreadable, []);
  });

  it("ends what is rendered before it", async (context) => {
    const { open, change } = place(context);
    const store = await open();
    for (const from of [0, 1000, 2000]) {
      await store.append([{ device: 1, records: seconds(from, from + 600) }]);
      await pack(store);
    }
    change(flipped("block", "id = 2", 10));
    await store.append([{ device: 1, records: [said(1300.5)] }]);
    const page = await store.render(1, {
      ...{ ...everything, limit: 10_000, fold: { time: undefined, totals: noTotals } },
      ...{ behind: { time: start, nth: 1 }, odometerStart: 0, found: new Map() },
    });
    assert.equal(
      page.pieces.reduce((sum, { count }) => sum + count, 0),
      599,
    );
    assert.deepEqual(page.damage, {
      ...{ from: start + 1000_000, to: start + 1599_000, what: "block 2: its checksum is wrong" },
    });
    assert.deepEqual([page.next, page.fold.time], [undefined, start + 599_000]);
  });
});

describe("packing", () => {
  it("leaves no rows, no repeats and no old records behind", async (context) => {
    const { open } = place(context);
    const store = await open();
    for (let pass = 0; pass < 3; pass++) {
      for (let from = 0; from < 3000; from += 500)
        await store.append([{ device: 1, records: seconds(from, from + 500) }]);
      await pack(store);
      const { logRows, logBytes, blocks, blockRecords, appended } = store.figures();
      assert.deepEqual([logRows, logBytes, blocks, blockRecords, appended], [0, 0, 3, 3000, 3000 * (pass + 1)]);
    }
    await store.append([{ device: 1, records: seconds(0, 4000) }]);
    await store.deleteBefore(1, start + 2500_000);
    await pack(store);
    assert.equal(store.figures().blockRecords, 2000);
    await store.deleteBefore(1, Number.POSITIVE_INFINITY);
    await store.append([{ device: 1, records: seconds(0, 10) }]);
    await pack(store);
    assert.deepEqual([store.figures().blockRecords, store.figures().blocks], [0, 0]);
  });

  it("puts a few late records beside the block that they came into, and packs many with it", async (context) => {
    const { open } = place(context);
    const store = await open();
    const late = (every: number, at: number) => seconds(0, 1000).filter((_, index) => index % every === at);
    await store.append([{ device: 1, records: late(2, 0) }]);
    await pack(store);
    for (const [at, blocks] of [2, 3, 4, 1].entries()) {
      await store.append([{ device: 1, records: late(100, 2 * at + 1) }]);
      await pack(store);
      assert.equal(store.figures().blocks, blocks);
    }
    await store.append([{ device: 1, records: seconds(0, 999) }]);
    await pack(store);
    assert.deepEqual([store.figures().blocks, store.figures().blockRecords], [1, 999]);
  });

  it("starts by itself where the log is large, and holds appends back while it is full", async (context) => {
    const { open } = place(context, { packFromBytes: 40_000, mostLogBytes: 60_000 });
    const store = await open();
    for (let at = 0; at < 40; at++) store.followed(await store.append([{ device: at, records: seconds(0, 200) }]));
    const { logBytes, appended } = store.figures();
    assert.equal(appended, 8000);
    assert.ok(logBytes < 100_000, `${logBytes}`);
    assert.equal((await store.read(39, { ...everything, limit: 1000 })).records.length, 200);
  });

  it("tells at a start what is packed and not followed, as in a backup", async (context) => {
    const { open, change } = place(context);
    const store = await open();
    for (let at = 0; at < 3; at++) await store.append([{ device: at, records: seconds(10 * at, 10 * at + 5) }]);
    store.followed(1);
    await store.pack();
    store.followed(3);
    await store.pack();
    await store.close();
    change("update log_end set followed = 1");
    const spans = [];
    for await (const some of (await open()).unfollowed()) spans.push(...some.spans);
    const span = (device: number) => ({ device, from: said(10 * device).time, to: said(10 * device + 4).time });
    assert.deepEqual(spans, [span(1), span(2)]);
  });

  it("waits for what is followed, though the log is full", async (context) => {
    const { open } = place(context, { packFromBytes: 10_000, mostLogBytes: 20_000 });
    const store = await open();
    const places: number[] = [];
    const appends = Array.from({ length: 5 }, async () => {
      places.push(await store.append([{ device: 1, records: seconds(0, 300) }]));
    });
    while (places.length < 1) await sleep(1);
    await store.pack();
    const { logRows, blocks } = store.figures();
    assert.deepEqual([logRows, blocks], [places.length, 0]);
    while (places.length < 5) {
      store.followed(places.at(-1) ?? 0);
      await sleep(1);
    }
    await Promise.all(appends);
    assert.deepEqual((await readAll(store, 1)).records, seconds(0, 300));
  });

  it("counts what memory holds of the log, 12 bytes for each device and commit", async (context) => {
    const { open } = place(context);
    const store = await open();
    for (let second = 0; second < 64; second++) await store.append([{ device: 1, records: [said(second)] }]);
    assert.equal(store.figures().logBytes, 64 * (65 + 12));
    await pack(store);
    assert.equal(store.figures().logBytes, 0);
  });

  it("keeps the rows of a device that can't be packed, and no others", async (context) => {
    const { open, change, told } = place(context);
    const store = await open();
    for (let second = 0; second < 30; second += 2) {
      await store.append([1, 2, 3].map((device) => ({ device, records: [said(second)] })));
      await store.append([2, 3].map((device) => ({ device, records: [said(second + 1)] })));
    }
    change("create trigger bad before insert on block when new.device = 1 begin select raise(abort, 'no'); end");
    await pack(store);
    assert.equal(told.length, 1);
    assert.deepEqual([store.figures().logRows, store.figures().blockRecords], [15, 60]);
    const compare = async () => {
      assert.deepEqual(
        (await readAll(store, 1)).records,
        seconds(0, 30).filter((_, at) => at % 2 === 0),
      );
      for (const device of [2, 3]) assert.deepEqual((await readAll(store, device)).records, seconds(0, 30));
    };
    await compare();
    await pack(store);
    assert.deepEqual([store.figures().logRows, store.figures().blockRecords], [15, 60]);
    await compare();
    change("drop trigger bad");
    await pack(store);
    assert.deepEqual([store.figures().logRows, store.figures().blockRecords], [0, 75]);
    await compare();
  });
});

describe("an append whose answer is lost", () => {
  it("may be there, and is there once when it is appended again", async (context) => {
    const { open } = place(context);
    const store = await open();
    await store.append([{ device: 1, records: [said(1)] }]);
    for (let at = 2; at < 12; at++) {
      const append = store.append([{ device: 1, records: [said(at)] }]);
      const failed = assert.rejects(append, StoreUnavailable).then(
        () => true,
        () => false,
      );
      await sleep(at % 3);
      await store.loseWriter();
      if (await failed) await store.append([{ device: 1, records: [said(at)] }]);
      assert.deepEqual((await readAll(store, 1)).records, seconds(1, at + 1));
    }
    await pack(store);
    assert.deepEqual((await readAll(store, 1)).records, seconds(1, 12));
  });
});

/** Appends a second of each of three devices at a time, tells each that was acknowledged, and packs all the while. */
const appender = `
  import { openSqlitePositions } from ${JSON.stringify(new URL("./open.ts", import.meta.url).href)};
  import { said } from ${JSON.stringify(new URL("../../../../test/contract/positions/said.ts", import.meta.url).href)};
  const [file, from] = process.argv.slice(1);
  const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
  const store = await openSqlitePositions({ file, log });
  const packing = (async () => { for (;;) { store.followed(Infinity); await store.pack(); await new Promise((resolve) => setTimeout(resolve, 1)); } })();
  packing.catch(() => undefined);
  for (let second = Number(from); ; second++) {
    await store.append([1, 2, 3].map((device) => ({ device, records: [said(second), said(second - 5)] })));
    process.stdout.write(second + "\\n");
  }
`;

/** Runs the appender until it is killed. Returns the last second that was acknowledged. */
async function killed(file: string, from: number, ms: number): Promise<number> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", appender, file, String(from)]);
  let output = "";
  child.stdout.on("data", (data) => {
    output += String(data);
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  await sleep(ms);
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGKILL");
  await ended;
  return Number(output.trimEnd().split("\n").at(-1));
}

describe("a killed process", () => {
  it("loses nothing that was acknowledged, and doubles nothing", async (context) => {
    const { open, file } = place(context);
    let second = 100;
    for (let kill = 0; kill < runs(30); kill++) {
      const acknowledged = await killed(file, second, (kill * 37) % 200);
      const store = await open();
      for (const device of [1, 2, 3]) {
        const { records, unreadable } = await readAll(store, device);
        const last = ((records.at(-1)?.time ?? 0) - start) / 1000;
        assert.ok(last === acknowledged || last === acknowledged + 1, `${last} after ${acknowledged}`);
        const appended = sortedOnce(
          seconds(100, last + 1).flatMap((one) => [one, said((one.time - start) / 1000 - 5)]),
        );
        assert.deepEqual([records, unreadable], [appended, []]);
        second = Math.max(second, last + 1);
      }
      await store.close();
    }
  });
});
