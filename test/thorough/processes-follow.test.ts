import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { DayWalk, usualSpacing } from "../../src/fold/day-walk.ts";
import { nothing } from "../../src/fold/days.ts";
import type { Alert } from "../../src/model/alert.ts";
import type { AlertRule } from "../../src/model/alert-rule.ts";
import type { Device } from "../../src/model/device.ts";
import type { Fix } from "../../src/model/effects.ts";
import type { Day } from "../../src/model/follow.ts";
import { systemClock, systemIds } from "../../src/observe/index.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { OpenedStore } from "../../src/store/opened.ts";
import { everything, readAll } from "../contract/positions/said.ts";
import { ruleFields } from "../contract/store/alert-values.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, delivery, drive, type Way } from "../support/any-order.ts";
import { contentOf, expectedLast, foldedTotals, totalsOf, withoutTotals } from "../support/location-content.ts";
import { Peer } from "../support/peer.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { openPostgres } from "../support/postgres-store.ts";
import { TestProcesses } from "../support/processes.ts";
import { mail } from "../support/rule-lane.ts";
import { runs } from "../support/runs.ts";
import { compareNotices, compareTold } from "../support/told-and-tried.ts";

const start = Date.UTC(2026, 5, 1);
const clock: Clock = { ...systemClock, now: () => start + 300 * 86_400_000 };
/** Days are shorter in a drive. */
const slowness = 12;
const mostRestMs = 60_000;

const cases = fc.record({
  seed: fc.integer(),
  count: fc.constantFrom(60, 200, 500),
  ways: fc.tuple(
    ...([0, 1, 2] as const).map(() => fc.constantFrom<Way[]>("any order", "newest first", "late parts", "late parts")),
  ),
  atOnce: fc.constantFrom(5, 20, 100),
  moves: fc.constantFrom(0, 0.05, 0.3),
  kills: fc.constantFrom(0, 0.02),
  looks: fc.constantFrom(0.05, 0.5),
});
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

interface Story {
  readonly device: Device;
  readonly delivered: readonly Fix[];
  at: number;
}

/** Two processes on one database. */
class Pair {
  readonly #url: string;
  readonly #processes = new TestProcesses();
  #peers!: [Peer, Peer];
  readonly random: () => number;

  constructor(url: string, random: () => number) {
    this.#url = url;
    this.random = random;
  }

  async start(): Promise<void> {
    this.#peers = [await this.#started(), await this.#started()];
  }

  #started(): Promise<Peer> {
    return Peer.start(this.#url, this.#processes, clock);
  }

  get peers(): readonly Peer[] {
    return this.#peers;
  }

  get any(): Peer {
    return this.#peers[this.random() < 0.5 ? 0 : 1];
  }

  move(device: Device): Promise<void> {
    return this.#processes.move(device.key, this.any.process);
  }

  /** Kills one of them while this is under way there, and starts another one. */
  async kill(work: (peer: Peer) => Promise<unknown>): Promise<void> {
    const at = this.random() < 0.5 ? 0 : 1;
    const unanswered = work(this.#peers[at]).catch(() => undefined);
    await sleep(this.random() * 20);
    await this.#peers[at].kill();
    void unanswered;
    this.#peers[at] = await this.#started();
  }

  async stop(): Promise<void> {
    for (const peer of this.#peers) await peer.stop();
  }
}

async function until(is: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + mostRestMs;
  while (!(await is())) {
    assert.ok(performance.now() < end, "what is waited for never came");
    await sleep(20);
  }
}

const withoutAlerts = (content: object) =>
  Object.fromEntries(Object.entries(content).filter(([name]) => !/alert|warning/i.test(name)));

async function compareHistory(peer: Peer, { device, delivered, at }: Story, what: string) {
  const stored = await peer.history(device.key);
  const expected = [...new Set(delivered.slice(0, at))].toSorted((one, other) => one.time - other.time);
  assert.deepEqual(
    stored.map((one) => withoutAlerts(withoutTotals(one).content)),
    expected.map((fix) => withoutAlerts(contentOf(fix))),
    `${what} at ${peer.process.name}`,
  );
  assert.deepEqual(stored.map(totalsOf), foldedTotals(stored), `totals ${what} at ${peer.process.name}`);
  return stored;
}

/** Delivers all of it, while shares move and processes are killed. */
async function deliver(pair: Pair, stories: readonly Story[], { atOnce, moves, kills, looks }: Case): Promise<void> {
  const { random } = pair;
  let moving: Promise<void> = Promise.resolve();
  for (;;) {
    const left = stories.filter(({ at, delivered }) => at < delivered.length);
    const story = left[Math.floor(random() * left.length)];
    if (story === undefined) break;
    const { device, delivered } = story;
    const some = delivered.slice(story.at, story.at + Math.ceil(random() * atOnce));
    if (random() < moves) moving = pair.move(device);
    if (random() < kills) await pair.kill((peer) => peer.submit(device.id, some));
    assert.equal(await pair.any.submit(device.id, some), "stored");
    story.at += some.length;
    // What was acknowledged is in the answers of every process at once.
    if (random() < looks) await compareHistory(pair.any, story, `after ${story.at}`);
  }
  await moving;
}

/** What is folded is what the plain fold makes of all records. */
function plainDays(records: Parameters<DayWalk["add"]>[0][]): readonly Day[] {
  const walk = DayWalk.after(nothing, usualSpacing);
  for (const record of records) walk.add(record, () => undefined);
  return walk.days();
}

const sums = ({ day, before, end }: Day) => ({
  day,
  ...{ records: end.records, time: end.time, totals: end.totals, before: before.totals },
});

async function compareRest(pair: Pair, stories: readonly Story[]): Promise<void> {
  for (const story of stories) {
    for (const peer of pair.peers) {
      const stored = await compareHistory(peer, story, "at the end");
      // Alerts that a review found stand in the history alone.
      const last = async () => withoutAlerts(Object(await peer.latest(story.device.key)));
      const expected = withoutAlerts(Object(expectedLast(stored)));
      await until(async () => isDeepStrictEqual(await last(), expected)).catch(() => undefined);
      assert.deepEqual(await last(), expected, `the last location at ${peer.process.name}`);
    }
  }
  await until(async () => {
    const heads = stories.flatMap(({ device: { key } }) =>
      pair.peers.filter(({ process }) => process.follows(key)).map((peer) => peer.follower.head(key)),
    );
    return heads.length === stories.length && (await Promise.all(heads)).every((head) => head?.late.length === 0);
  });
}

/** A rule tells one thing of a moment once, however many records it has. */
function onceAMoment(alerts: readonly Alert[]): readonly Alert[] {
  const nameOf = ({ phase, time, facts: { zone, event, limit } }: Alert) =>
    JSON.stringify([phase, time, zone, event, limit]);
  return [...new Map(alerts.map((alert) => [nameOf(alert), alert])).values()];
}

async function compareStored(store: OpenedStore, { device: { key } }: Story): Promise<void> {
  const [head] = await store.follow.heads([key]);
  const days = await store.follow.days(key, { order: "first", limit: 10_000 });
  const { records } = await readAll(store.positions, key, { ...everything, limit: 5000 });
  const all = head?.today === undefined ? days : [...days, head.today];
  assert.deepEqual(all.map(sums), plainDays([...records]).map(sums), "days");
}

describe("two processes on one PostgreSQL", { skip: noPostgres }, () => {
  let url: string;
  let store: OpenedStore;
  let account: Awaited<ReturnType<typeof makeAccount>>;
  before(async () => {
    url = await (await PostgresServer.start()).database();
    store = await openPostgres(url);
    account = await makeAccount(store, 100_000);
  });

  async function rulesOf(stories: readonly Story[]): Promise<readonly AlertRule[]> {
    for (const { key } of await store.alertRules.list(account.key)) await store.alertRules.remove(key);
    const devices = stories.map(({ device: { id } }) => id);
    const channels = { email: [mail], sms: [], webhook: [] };
    for (const trigger of [
      { type: "speedOver", parameters: { kmh: 60 } },
      { type: "mileage", parameters: { km: 1, repeat: true } },
    ] as const) {
      const fields = { ...ruleFields({ name: trigger.type, devices, channels, notifyWhenOver: true }), ...trigger };
      await store.alertRules.create(account.key, 1, systemIds.uuid(), fields, start);
    }
    return store.alertRules.list(account.key);
  }

  async function isFollowed(one: Case): Promise<void> {
    const random = chance(one.seed);
    const stories: Story[] = [];
    for (const way of one.ways) {
      const history = drive(random, one.count).map((fix) => ({ ...fix, time: start + slowness * (fix.time - start) }));
      stories.push({ device: await makeDevice(store, account.key), delivered: delivery(history, random, way), at: 0 });
    }
    const rules = await rulesOf(stories);
    const pair = new Pair(url, random);
    await pair.start();
    await deliver(pair, stories, one);
    await compareRest(pair, stories);
    const [peer] = pair.peers;
    assert.ok(peer);
    const tried = new Map<AlertRule, Awaited<ReturnType<Peer["tried"]>>[]>();
    for (const rule of rules)
      tried.set(
        rule,
        await Promise.all(stories.map(async ({ device }) => onceAMoment(await peer.tried(device.id, rule)))),
      );
    await pair.stop();
    for (const [at, story] of stories.entries()) {
      await compareStored(store, story);
      const { key } = story.device;
      const told = await store.alerts.list(key, { from: 0, to: Number.MAX_SAFE_INTEGER, limit: 100_000 });
      const notices = await store.notices.list(key, { limit: 100_000 });
      const noticed = new Set(notices.map(({ alertId }) => alertId));
      assert.equal(noticed.size, notices.length, "one notice of an alert");
      for (const rule of rules) {
        const own = told.filter(({ ruleKey }) => ruleKey === rule.key);
        compareTold(rule, own, tried.get(rule)?.[at] ?? []);
        compareNotices(rule, own, tried.get(rule)?.[at] ?? [], noticed);
      }
    }
  }

  it("follow what comes to either, while shares move and processes are killed, as the plain fold does", async () => {
    await fc.assert(fc.asyncProperty(cases, isFollowed), { numRuns: runs(10), endOnFailure: true });
  });
});
