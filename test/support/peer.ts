import assert from "node:assert/strict";
import { RuleEngine, RuleTrial } from "../../src/alerts/index.ts";
import { createSharedBus } from "../../src/bus/shared.ts";
import { Follower } from "../../src/follow/follower.ts";
import { FoldedHistories } from "../../src/history/histories.ts";
import { Ingest } from "../../src/ingest/ingest.ts";
import { ingestMetrics } from "../../src/ingest/metrics.ts";
import type { Alert } from "../../src/model/alert.ts";
import type { AlertRule } from "../../src/model/alert-rule.ts";
import type { DeviceKey } from "../../src/model/device.ts";
import type { Fix } from "../../src/model/effects.ts";
import { createMetrics, systemIds } from "../../src/observe/index.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { FollowStore } from "../../src/ports/follow.ts";
import type { Admitted, Outcome } from "../../src/ports/intake.ts";
import type { PositionStore, Unfollowed } from "../../src/ports/positions.ts";
import { StoreUnavailable } from "../../src/ports/store.ts";
import type { OpenedStore } from "../../src/store/opened.ts";
import { openPostgresPositions, type PostgresPositions } from "../../src/store/positions/postgres/open.ts";
import { checkedAddress } from "../../src/store/postgres/checks.ts";
import { usualTimes } from "../../src/store/postgres/times.ts";
import type { Location } from "./location-content.ts";
import { openPostgres } from "./postgres-store.ts";
import type { TestProcess, TestProcesses } from "./processes.ts";
import { silentLog } from "./silent-log.ts";

/** Lets calls of the store pass, until the process is killed. */
class Gate {
  readonly #running = new Set<Promise<unknown>>();
  #isShut = false;

  look(): void {
    if (this.#isShut) throw new StoreUnavailable("the process was killed", undefined, "down");
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    this.look();
    const running = work();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
      this.look();
    }
  }

  /** What is under way is done, and nobody gets its answer. */
  async shut(): Promise<void> {
    this.#isShut = true;
    await Promise.allSettled(this.#running);
  }
}

/**
 * A process of a service on PostgreSQL within a test: it takes reports, follows its share of the devices with their
 * rules, and reads histories.
 */
export class Peer {
  readonly process: TestProcess;
  readonly follower: Follower;
  readonly #engine: RuleEngine;
  readonly #ingest: Ingest;
  readonly #histories: FoldedHistories;
  readonly #store: OpenedStore;
  readonly #positions: PostgresPositions;
  readonly #processes: TestProcesses;
  readonly #clock: Clock;
  readonly #gate = new Gate();

  static async start(url: string, processes: TestProcesses, clock: Clock): Promise<Peer> {
    const process = processes.join();
    const positions = await openPostgresPositions(await checkedAddress(url, usualTimes), {
      log: silentLog,
      processes: process,
    });
    const peer = new Peer({ process, processes, clock, positions, store: await openPostgres(url) });
    peer.#engine.start();
    await peer.follower.start();
    return peer;
  }

  private constructor(parts: {
    readonly process: TestProcess;
    readonly processes: TestProcesses;
    readonly clock: Clock;
    readonly positions: PostgresPositions;
    readonly store: OpenedStore;
  }) {
    const { process, processes, clock, positions } = parts;
    [this.process, this.#processes, this.#clock] = [process, processes, clock];
    [this.#store, this.#positions] = [parts.store, positions];
    const bus = createSharedBus(process, (error) => assert.fail(String(error)));
    const store = {
      ...parts.store,
      processes: process,
      positions: this.#gatedPositions(positions),
      follow: this.#gatedFollow(parts.store.follow),
    };
    const metrics = createMetrics({ processMetrics: false });
    const common = { store, bus, clock, log: silentLog };
    this.#engine = new RuleEngine({
      ...store,
      ...common,
      ids: systemIds,
      metrics,
      graceMs: 0,
      noticesPerMinute: 1_000_000,
      standings: (devices) => this.follower.standings(devices),
      onDue: (devices) => this.follower.due(devices),
    });
    this.follower = new Follower({ ...common, engine: this.#engine, mostLagBytes: 1e9 });
    const engine = this.#engine;
    const following = this.follower;
    this.#ingest = new Ingest(
      { maxFutureMs: 600_000 },
      { ...common, metrics: ingestMetrics(metrics), engine, following },
    );
    this.#histories = new FoldedHistories({ ...store, heads: this.follower });
  }

  #gatedPositions(positions: PositionStore): PositionStore {
    const gate = this.#gate;
    return {
      append: (batch) => gate.pass(() => positions.append(batch)),
      async *unfollowed(how): AsyncGenerator<Unfollowed, void, undefined> {
        gate.look();
        for await (const some of positions.unfollowed(how)) {
          gate.look();
          yield some;
        }
      },
      pending: (devices) => gate.pass(() => positions.pending(devices)),
      followed: (place) => positions.followed(place),
      left: (...asked) => gate.pass(() => positions.left(...asked)),
      read: (...asked) => gate.pass(() => positions.read(...asked)),
      readEach: (...asked) => gate.pass(() => positions.readEach(...asked)),
      render: (...asked) => gate.pass(() => positions.render(...asked)),
      deleteBefore: (...asked) => gate.pass(() => positions.deleteBefore(...asked)),
      figures: () => positions.figures(),
      close: () => positions.close(),
    };
  }

  #gatedFollow(follow: FollowStore): FollowStore {
    const gate = this.#gate;
    return {
      heads: (devices) => gate.pass(() => follow.heads(devices)),
      lateDevices: (...asked) => gate.pass(() => follow.lateDevices(...asked)),
      commit: (batch) => gate.pass(() => follow.commit(batch)),
      days: (...asked) => gate.pass(() => follow.days(...asked)),
      sumsBefore: (...asked) => gate.pass(() => follow.sumsBefore(...asked)),
      daysBefore: (...asked) => gate.pass(() => follow.daysBefore(...asked)),
      forgetDays: (...asked) => gate.pass(() => follow.forgetDays(...asked)),
    };
  }

  async admitted(id: string): Promise<Admitted> {
    const admission = await this.#ingest.admit([id]);
    assert.ok(admission.status === "admitted");
    return admission;
  }

  /** Resolves with what became of these. */
  async submit(id: string, fixes: readonly Fix[]): Promise<Outcome> {
    const device = await this.admitted(id);
    return new Promise((resolve) => this.#ingest.submit(device, fixes, this.#clock.now(), resolve));
  }

  async history(device: DeviceKey, from = 0): Promise<readonly Location[]> {
    const pieces: string[] = [];
    const range = { from, to: Date.UTC(2100, 0, 1), limit: 1e9, account: 1, odometerStart: 0 };
    for await (const { json } of this.#histories.history(device, range)) pieces.push(Buffer.from(json).toString());
    return JSON.parse(`[${pieces.join(",")}]`);
  }

  async latest(device: DeviceKey): Promise<unknown> {
    const { json } = await this.follower.latest({ key: device, odometerStart: 0 });
    return json && JSON.parse(json);
  }

  /** The alerts of a rule by its trial over what is stored. */
  async tried(id: string, rule: AlertRule): Promise<readonly Alert[]> {
    const { geofences, accounts } = this.#store;
    const trial = new RuleTrial({
      histories: this.#histories,
      geofences,
      accounts,
      clock: this.#clock,
      ids: systemIds,
    });
    const device = { ...(await this.admitted(id)), name: id, expires: null, odometerStart: 0 };
    const found: Alert[] = [];
    for await (const step of trial.run(rule, device, { from: 0, to: this.#clock.now() }))
      if (step.type === "alert") found.push(step.alert);
    return found;
  }

  /** Ends in the middle of its work: what is in its memory is lost, and what it asks gets no answer any more. */
  async kill(): Promise<void> {
    const shut = this.#gate.shut();
    this.#processes.leave(this.process);
    await shut;
    this.#processes.share();
    await this.#end();
  }

  /** Commits everything. */
  async stop(): Promise<void> {
    await this.#end();
    await this.process.stop();
  }

  async #end(): Promise<void> {
    await this.#engine.stop();
    await this.#ingest.stop();
    await this.follower.stop();
    await this.#positions.close();
    await this.#store.close();
  }
}
