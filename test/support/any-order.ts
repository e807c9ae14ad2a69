import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { createMemoryBus } from "../../src/bus/memory.ts";
import { Follower } from "../../src/follow/follower.ts";
import { FoldedHistories } from "../../src/history/histories.ts";
import { Ingest } from "../../src/ingest/ingest.ts";
import { ingestMetrics } from "../../src/ingest/metrics.ts";
import type { Fix } from "../../src/model/effects.ts";
import { createLog, createMetrics, systemClock } from "../../src/observe/index.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Histories } from "../../src/ports/history.ts";
import type { Admitted, Outcome } from "../../src/ports/intake.ts";
import type { Log } from "../../src/ports/log.ts";
import { bucketCount } from "../../src/ports/processes.ts";
import type { OpenedStore } from "../../src/store/opened.ts";
import { SqlitePositions } from "../../src/store/positions/sqlite/open.ts";
import {
  type Content,
  contentOf,
  expectedLast,
  foldedTotals,
  type Location,
  totalsOf,
  withoutTotals,
} from "./location-content.ts";
import { noAlertEngine } from "./no-alert-engine.ts";
import { silentLog } from "./silent-log.ts";
import { openStore } from "./store.ts";

/*
 * Histories that come to the store in any order, by way of ingest, and what must be stored of them.
 */

const start = Date.UTC(2026, 5, 1);
const clock: Clock = { ...systemClock, now: () => start + 30 * 86_400_000 };

/** Numbers from 0 to 1, always the same ones of a seed (mulberry32). */
export function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * A drive of stops and goes. Some reports have the moment of the one before; once the clock stands still for a while;
 * some positions are not valid.
 */
export function drive(random: () => number, count: number): readonly Fix[] {
  const stands = Math.floor(random() * count);
  let time = start;
  let latitude = 48;
  return Array.from({ length: count }, (_, number) => {
    const drives = number % 60 < 40;
    if (random() > 0.1 && !(number > stands && number < stands + 40)) time += 1000 * Math.ceil(random() * 20);
    if (drives) latitude += random() / 2000;
    return {
      type: "fix",
      time,
      valid: random() > 0.05,
      latitude: Math.round(latitude * 1e7) / 1e7,
      longitude: 11,
      speed: drives ? 30 + Math.floor(random() * 50) : 0,
      course: Math.floor(random() * 360),
      alarms: [],
      readings: { battery: Math.floor(random() * 100), ...(random() < 0.3 && { input1: random() < 0.5 }) },
      attributes: { number },
    };
  });
}

/** How a history comes. */
export type Way = "any order" | "newest first" | "late parts";

/**
 * The reports of a history as they come: all in any order, the newest part first, or in order but for parts that come
 * late. A fifth of it comes twice.
 */
export function delivery(history: readonly Fix[], random: () => number, way: Way): readonly Fix[] {
  const part = way === "any order" ? 1 : 1 + Math.floor(random() * 90);
  const parts = Array.from({ length: Math.ceil(history.length / part) }, (_, at) => ({
    fixes: history.slice(at * part, (at + 1) * part),
    rank: { "any order": random(), "newest first": -at, "late parts": random() < 0.2 ? at + random() * 30 : at }[way],
  }));
  const again = parts.flatMap((one) => (random() < 0.2 ? [{ ...one, rank: one.rank + random() * parts.length }] : []));
  return [...parts, ...again].sort((one, other) => one.rank - other.rank).flatMap(({ fixes }) => fixes);
}

/** A store, and what takes reports into it and follows them, which can be started again. */
export class World {
  /** A data folder, or what else `open` takes. */
  readonly place: string;
  readonly #open: (place: string, log: Log) => Promise<OpenedStore>;
  store!: OpenedStore;
  ingest!: Ingest;
  follower!: Follower;
  #histories!: Histories;

  constructor(place: string, open: (place: string, log: Log) => Promise<OpenedStore> = openStore) {
    this.place = place;
    this.#open = open;
  }

  async start(storeLog: Log = silentLog): Promise<void> {
    const store = await this.#open(this.place, storeLog);
    const log = createLog("silent");
    const bus = createMemoryBus((error) => assert.fail(String(error)));
    const metrics = ingestMetrics(createMetrics({ processMetrics: false }));
    const parts = { store, bus, clock, log, engine: noAlertEngine };
    this.store = store;
    this.follower = new Follower({ ...parts, mostLagBytes: 64 * 1024 * 1024 });
    this.ingest = new Ingest({ maxFutureMs: 600_000 }, { ...parts, metrics, following: this.follower });
    this.#histories = new FoldedHistories({ ...store, heads: this.follower });
    await this.follower.start();
    // Shares of a process that was killed just now are free some seconds later.
    const follows = (bucket: number) => store.processes.follows(bucket);
    while (![...Array(bucketCount).keys()].every(follows)) await sleep(10);
  }

  async stop(): Promise<void> {
    await this.ingest.stop();
    await this.follower.stop();
    await this.store.processes.stop();
    await this.store.close();
  }

  /** Packs what an engine with a log has in it, as far as it is followed. */
  async pack(): Promise<void> {
    const { positions } = this.store;
    if (positions instanceof SqlitePositions) await positions.pack();
  }

  /**
   * The same, of everything: an end commits what is followed. What was not followed yet is followed after the next
   * start.
   */
  async packAll(): Promise<void> {
    do {
      await this.followed();
      await this.stop();
      await this.start();
      await this.pack();
    } while (this.store.positions.figures().logRows > 0);
    if (this.store.positions instanceof SqlitePositions) assert.ok(this.store.positions.figures().blocks > 0);
  }

  /** Resolves when all late records are folded in their places. */
  async followed(): Promise<void> {
    while (this.follower.behind > 0) await sleep(10);
  }

  async admitted(id: string): Promise<Admitted> {
    const admission = await this.ingest.admit([id]);
    assert.ok(admission.status === "admitted");
    return admission;
  }

  /** Resolves when these are stored. */
  async deliver(device: Admitted, fixes: readonly Fix[]): Promise<void> {
    assert.equal(await this.submit(device, fixes), "stored");
  }

  /** Resolves with what became of these. */
  submit(device: Admitted, fixes: readonly Fix[]): Promise<Outcome> {
    return new Promise((resolve) => this.ingest.submit(device, fixes, clock.now(), resolve));
  }

  /**
   * What the device's history must be is what it is: contents by time, of one moment as they came first, and totals by
   * the plain fold.
   */
  async compare(device: number, delivered: readonly Fix[], what: string): Promise<void> {
    const stored = await this.history(device);
    assert.deepEqual(
      stored.map((one) => withoutTotals(one).content),
      expectedOf(delivered),
      what,
    );
    assert.deepEqual(stored.map(totalsOf), foldedTotals(stored), `totals ${what}`);
  }

  /** The same, and when everything is followed, the last location is the last one of the history. */
  async compareFollowed(device: number, delivered: readonly Fix[], what: string): Promise<void> {
    await this.compare(device, delivered, what);
    await this.followed();
    await this.compare(device, delivered, `${what}, when it is followed`);
    const { json } = await this.follower.latest({ key: device, odometerStart: 0 });
    assert.deepEqual(json && JSON.parse(json), expectedLast(await this.history(device)), `the last location ${what}`);
  }

  async history(device: number, from = 0, to = Date.UTC(2100, 0, 1)): Promise<readonly Location[]> {
    const pieces: string[] = [];
    const range = { from, to, limit: 1e9, account: 1, odometerStart: 0 };
    for await (const { json } of this.#histories.history(device, range)) pieces.push(Buffer.from(json).toString());
    return JSON.parse(`[${pieces.join(",")}]`);
  }
}

/** By time; of one moment, as they came first. */
function expectedOf(delivered: readonly Fix[]): readonly Content[] {
  return [...new Set(delivered)].toSorted((one, other) => one.time - other.time).map(contentOf);
}
