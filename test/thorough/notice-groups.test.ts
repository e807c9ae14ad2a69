import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { Kysely, type SqlBool, sql } from "kysely";
import type { NewNotice, Notice } from "../../src/model/notice.ts";
import type { NoticeOutcome } from "../../src/ports/alert-store.ts";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { CrowdedNotices } from "../../src/store/rows/notice-room.ts";
import { NoticeRows } from "../../src/store/rows/notices.ts";
import type { Schema } from "../../src/store/schema.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import { runTogether, WorkerDialect } from "../../src/store/sqlite/dialect.ts";
import type { SqliteReaderCalls, SqliteWriterCalls } from "../../src/store/sqlite/messages.ts";
import type { Calls } from "../../src/store/sqlite/workers/calls.ts";
import { Mutex } from "../../src/store/sqlite/workers/mutex.ts";
import { WorkerLink } from "../../src/store/sqlite/workers/worker-link.ts";
import { commitAlerts, newAlert, newNotice, target, webhook } from "../contract/store/alert-values.ts";
import { makeAccount, makeDevice, now } from "../contract/store/harness.ts";
import { plainSqlite } from "../support/plain-sqlite.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore } from "../support/store.ts";

const sent: NoticeOutcome = { state: "sent", reason: null, peerId: null, dueAt: 0 };
const failed: NoticeOutcome = { state: "failed", reason: "refused", peerId: null, dueAt: 0 };
const again: NoticeOutcome = { state: "queued", reason: "busy", peerId: null, dueAt: now + 60_000 };
const pageSize = 4096;

const worker = (name: string) => ({
  name,
  file: new URL(`../../src/store/sqlite/${name}.ts`, import.meta.url),
  heapMb: 64,
});

/** A link that notes its calls, and can keep one waiting or lose its answer. */
class NotedLink<C extends Calls<C>> extends WorkerLink<C> {
  readonly calls: string[] = [];
  /** What the next call waits for. */
  before: Promise<void> | undefined;
  /** The next answer is lost; what it asked for is done. */
  loses = false;

  override async call<K extends keyof C & string>(
    ...given: Parameters<WorkerLink<C>["call"]>
  ): Promise<C[K]["answer"]> {
    this.calls.push(given[0]);
    const { before, loses } = this;
    this.before = undefined;
    this.loses = false;
    await before;
    const answer = await super.call(...given);
    if (loses) throw new StoreUnavailable("the worker did not live to answer", undefined, "exhausted");
    return answer;
  }
}

/** Notices of one alert, and the rows of them over a writer whose calls are noted. */
class Bench {
  readonly #directory = dataFolder();
  readonly #file = join(this.#directory, "waybeam.db");
  readonly writer = new NotedLink<SqliteWriterCalls>(worker("writer"), this.#file, silentLog);
  readonly #reader = new WorkerLink<SqliteReaderCalls>(worker("reader"), this.#file, silentLog);
  readonly rows = this.#rows();
  #device = 0;

  #rows(): NoticeRows {
    const parts = { writer: this.writer, reader: this.#reader, turns: new Mutex() };
    const database = new Kysely<Schema>({ dialect: new WorkerDialect(parts) });
    const owner = { name: "run", hasEnded: sql<SqlBool>`true` };
    const crowded = new CrowdedNotices(1000);
    return new NoticeRows(database, { vault: openVault, crowded, together: runTogether(parts), owner });
  }

  /** Before anything else: makes the file and the notices, in the order of the changes. */
  async make(changes: readonly Partial<NewNotice>[]): Promise<readonly Notice[]> {
    const store = await openStore(this.#directory);
    const device = await makeDevice(store, (await makeAccount(store)).key);
    this.#device = device.key;
    const alert = newAlert(device.key, 1);
    const notices = changes.map((change) => newNotice(alert, { target: webhook, ...change }));
    await commitAlerts(store, device.key, [alert], notices);
    const made = await store.notices.list(device.key, { limit: 1000 });
    await store.close();
    return made.toReversed();
  }

  webhooks(count: number): Promise<readonly Notice[]> {
    return this.make(Array.from({ length: count }, () => ({})));
  }

  claim(notices: readonly Notice[]) {
    return Promise.all(notices.map(({ key }) => this.rows.claim(key, now, undefined)));
  }

  async states(): Promise<readonly string[]> {
    return (await this.rows.list(this.#device, { limit: 1000 })).map(({ state }) => state).toReversed();
  }

  /** Behind the store's back. */
  exec(statement: string): void {
    const { file } = plainSqlite(this.#file);
    file.exec(statement);
    file.close();
  }

  /** Overwrites the pages that hold little but a letter; gives how many. */
  damage(letter: string): number {
    const bytes = readFileSync(this.#file);
    let pages = 0;
    for (let at = 0; at < bytes.length; at += pageSize) {
      const marks = bytes.subarray(at, at + pageSize).filter((byte) => byte === letter.charCodeAt(0));
      if (marks.length < pageSize - 100) continue;
      bytes.fill(0xff, at, at + pageSize);
      pages++;
    }
    writeFileSync(this.#file, bytes);
    return pages;
  }

  async close(): Promise<void> {
    await this.#reader.close(() => this.#reader.call("close", null));
    await this.writer.close(() => this.writer.call("close", null));
    removeFolder(this.#directory);
  }
}

describe("steps of notices that are asked for at once", () => {
  let bench: Bench;
  beforeEach(() => {
    bench = new Bench();
  });
  afterEach(() => bench.close());

  it("share a transaction, which is one message to the writer", async () => {
    const notices = await bench.webhooks(20);
    assert.deepEqual(await bench.claim(notices), Array(20).fill("claimed"));
    assert.deepEqual(bench.writer.calls, ["together"]);
    const outcomes = [sent, failed, again];
    const finish = ({ key }: Notice, index: number) => bench.rows.finish(key, outcomes[index % 3] ?? sent, now);
    await Promise.all(notices.map(finish));
    assert.deepEqual(bench.writer.calls, ["together", "together"]);
    assert.deepEqual(
      await bench.states(),
      notices.map((_, index) => outcomes[index % 3]?.state),
    );
  });

  it("wait for the write that is under way, and go together after it in their order", async () => {
    const [first, second, ...others] = await bench.webhooks(20);
    assert.ok(first !== undefined && second !== undefined);
    const { promise, resolve } = Promise.withResolvers<void>();
    bench.writer.before = promise;
    const claims = [bench.claim([first])];
    while (bench.writer.calls.length === 0) await new Promise((done) => setImmediate(done));
    claims.push(bench.claim([second]));
    const finished = bench.rows.finish(second.key, sent, now);
    claims.push(bench.claim([second, ...others]));
    resolve();
    const answers = (await Promise.all(claims)).flat();
    assert.deepEqual(answers, ["claimed", "claimed", "gone", ...Array(18).fill("claimed")]);
    await finished;
    assert.deepEqual(bench.writer.calls, ["together", "together"]);
    assert.deepEqual(await bench.states(), ["sending", "sent", ...Array(18).fill("sending")]);
  });

  it("are claimed by one of those who share a group", async () => {
    const [notice] = await bench.webhooks(1);
    assert.ok(notice !== undefined);
    assert.deepEqual(await bench.claim([notice, notice, notice]), ["claimed", "gone", "gone"]);
    assert.deepEqual(bench.writer.calls, ["together"]);
  });

  it("fail alone", async () => {
    const notices = await bench.webhooks(5);
    const bad = notices[2];
    assert.ok(bad !== undefined);
    bench.exec(`create trigger bad before update on notice when new."key" = ${bad.key}
      begin select raise(fail, 'a bad row'); end`);
    const claims = await Promise.allSettled(notices.map(({ key }) => bench.rows.claim(key, now, undefined)));
    assert.deepEqual(
      claims.map((claim) => (claim.status === "fulfilled" ? claim.value : claim.reason.message)),
      ["claimed", "claimed", "a bad row", "claimed", "claimed"],
    );
    bench.exec("drop trigger bad");
    assert.equal(await bench.rows.claim(bad.key, now, undefined), "claimed");
    bench.exec(`create trigger bad before update on notice when new."key" = ${bad.key}
      begin select raise(abort, 'a bad row'); end`);
    const ends = await Promise.allSettled(notices.map(({ key }) => bench.rows.finish(key, sent, now)));
    assert.deepEqual(
      ends.map(({ status }) => status),
      ["fulfilled", "fulfilled", "rejected", "fulfilled", "fulfilled"],
    );
    assert.deepEqual(await bench.states(), ["sent", "sent", "sending", "sent", "sent"]);
  });

  it("fail alone where a page is damaged", async () => {
    const long = { target: { ...target, channel: "webhook" as const, url: `https://${"Q".repeat(5 * pageSize)}/` } };
    const notices = await bench.make([{}, long, {}]);
    assert.ok(bench.damage("Q") > 0);
    const claims = await Promise.allSettled(notices.map(({ key }) => bench.rows.claim(key, now, undefined)));
    assert.deepEqual(
      claims.map((claim) => (claim.status === "fulfilled" ? claim.value : claim.reason.trouble)),
      ["claimed", "damaged", "claimed"],
    );
  });

  it("are not tried again where the answer is lost: what was claimed would seem to be another's", async () => {
    const notices = await bench.webhooks(3);
    bench.writer.loses = true;
    const claims = await Promise.allSettled(notices.map(({ key }) => bench.rows.claim(key, now, undefined)));
    for (const claim of claims) assert.ok(claim.status === "rejected" && claim.reason instanceof StoreUnavailable);
    assert.deepEqual(bench.writer.calls, ["together"]);
    assert.deepEqual(await bench.states(), ["sending", "sending", "sending"]);
  });

  it("go in groups that have an end, by their number and by their texts", async () => {
    const notices = await bench.webhooks(250);
    assert.deepEqual(await bench.claim(notices), Array(250).fill("claimed"));
    assert.deepEqual(bench.writer.calls, Array(3).fill("together"));
    const reason = "x".repeat(60_000);
    await Promise.all(notices.slice(0, 3).map(({ key }) => bench.rows.finish(key, { ...failed, reason }, now)));
    assert.equal(bench.writer.calls.length, 6);
  });
});
