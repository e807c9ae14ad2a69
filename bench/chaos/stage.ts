import { setTimeout as sleep } from "node:timers/promises";
import { chance } from "../../test/support/any-order.ts";
import { atEnd } from "../../test/support/at-end.ts";
import { compareTracker, promisedOf } from "../../test/support/ledger.ts";
import { dataFolder, register, removeFolder, type Service, startService } from "../../test/support/service.ts";
import { commandLine } from "../../test/support/waybeam.ts";
import type { Fault, Histories, Scene, Served, Start } from "./fault.ts";
import { Fleet } from "./fleet.ts";

/** How long a fault is played, and with how many trackers. */
export interface Pace {
  /** Trackers of every kind report in every way. Otherwise, a third of them do. */
  readonly whole: boolean;
  /** How often each fault is injected. */
  readonly rounds: number;
  /** The longest time that trackers report between two faults, ms. */
  readonly reportMs: number;
}

/** What became of a fault. */
export interface Result {
  readonly fault: Fault;
  readonly seed: number;
  /** The number of acknowledged messages, and of compared records. */
  readonly messages: number;
  readonly records: number;
  readonly blocks: number;
  readonly counted: ReadonlyMap<string, number>;
  /** What must hold but does not. */
  readonly broken: readonly string[];
}

/**
 * What a fault does to the service is told in the table, not in its log. Each comparison reads whole histories, more
 * than usual users may in a day. The log is packed when it is small, so that faults meet packing, too.
 */
const settings = {
  WAYBEAM_LOG_LEVEL: "silent",
  WAYBEAM_API_DAILY_RESULTS: "1000000000",
  WAYBEAM_STORE_PACK_FROM_BYTES: "65536",
};
/** A tracker that is not acknowledged within this time counts as waiting for ever, ms. */
const foreverMs = 60_000;

/** A service on a fresh folder, its trackers, and what happened to both. */
export class Stage {
  readonly directory = dataFolder();
  /** The seed of all random numbers. */
  readonly seed: number;
  readonly #pace: Pace;
  readonly #random: () => number;
  readonly #fleet: Fleet;
  readonly #histories: Histories | undefined;
  readonly #serve: Fault["serve"];
  #served: (Served & { readonly url: string }) | undefined;
  #counted = new Map<string, number>();
  #missed = new Set<string>();
  readonly #began = Date.now();
  #service: Service | undefined;
  #registered = false;
  /** One of the faults has changed the service's clock. */
  #clock = false;
  /** What the last comparison found. */
  #stored = { records: 0, blocks: 0 };

  constructor(pace: Pace, seed: number, { histories, serve }: Pick<Fault, "histories" | "serve"> = {}) {
    this.seed = seed;
    this.#pace = pace;
    this.#histories = histories;
    this.#serve = serve;
    this.#random = chance(seed);
    this.#fleet = new Fleet(this.#random, pace.whole, histories);
  }

  get #running(): Service {
    if (this.#service === undefined) throw new Error("the service is not started");
    return this.#service;
  }

  /** Plays a fault, then compares the stored records with the acknowledged ones. */
  async play(fault: Fault): Promise<Result> {
    this.#counted = new Map();
    const before = this.#fleet.acked;
    const broken = await this.#broken(async () => {
      this.#clock ||= fault.clock ?? false;
      await fault.run(this.#scene());
      await this.#compare();
    });
    const { seed } = this;
    const messages = this.#fleet.acked - before;
    return { fault, seed, messages, ...this.#stored, counted: this.#counted, broken };
  }

  /**
   * Kills the service once more, compares again, stops it, and reads everything with `waybeam check`. Returns what does
   * not hold.
   */
  finish(): Promise<readonly string[]> {
    return this.#broken(async () => {
      await this.#end((service) => service.kill());
      await this.#compare();
      await this.#stop();
      // A database is its server's to check.
      if (this.#serve !== undefined) return;
      const { code, err } = await commandLine(this.directory).waybeam(["check"]);
      const found = / (\d+) positions of (\d+) devices read; everything is whole/.exec(err);
      const [positions, devices] = [Number(found?.[1]), Number(found?.[2])];
      const { records } = this.#stored;
      const { trackers } = this.#fleet;
      // What a tracker sent again after a kill is in the log twice until it is packed, and histories drop it. And of
      // what is old, each device keeps a part that no call shows. `#compare` has seen that each record is there once.
      this.#must(
        code === 0 && devices === trackers.length && positions >= records,
        `waybeam check finds everything whole, ${records} positions of ${trackers.length} devices: ${err}`,
      );
    });
  }

  async close(): Promise<void> {
    await this.#end((service) => service.kill());
    await this.#served?.dispose();
    removeFolder(this.directory);
  }

  #scene(): Scene {
    // The getter below has a `this` of its own.
    const stage = this;
    return {
      directory: this.directory,
      devices: this.#fleet.ids,
      get service() {
        return stage.#running;
      },
      get served() {
        if (stage.#served === undefined) throw new Error("the fault has no server");
        return stage.#served;
      },
      random: this.#random,
      rounds: this.#pace.rounds,
      wait: (ms) => sleep(Math.ceil((ms * (1 + 2 * this.#random())) / 3)),
      start: (how) => this.#start(how),
      report: () => this.#report(),
      reported: (messages) => this.#reported(messages),
      rest: () => this.#fleet.rest(),
      drive: () => this.#fleet.drive(this.#running.devicePort),
      promised: () => this.#fleet.trackers.reduce((sum, tracker) => sum + promisedOf(tracker), 0),
      allAcknowledged: () => this.#allAcknowledged(),
      kill: () => this.#end((service) => service.kill()),
      stop: () => this.#stop(),
      count: (what, times = 1) => void this.#counted.set(what, (this.#counted.get(what) ?? 0) + times),
      must: (holds, what) => this.#must(holds, what),
    };
  }

  #stop(): Promise<void> {
    return this.#end(async (service) => {
      const code = await service.stop();
      this.#must(code === 0, `a clean stop ends with exit code 0, not ${code}`);
    });
  }

  #must(holds: boolean, what: string): void {
    if (!holds) this.#missed.add(what);
  }

  /** Does some work and returns what does not hold. */
  async #broken(work: () => Promise<void>): Promise<readonly string[]> {
    this.#missed = new Set();
    try {
      await work();
    } catch (error) {
      this.#missed.add(error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    return [...this.#missed];
  }

  async #start(how?: Start): Promise<void> {
    if (how !== undefined || this.#service === undefined) await this.#startAnew(how ?? {});
    this.#fleet.drive(this.#running.devicePort);
  }

  async #startAnew({ environment = {}, directory = this.directory }: Start): Promise<void> {
    await this.#stop();
    const service = await startService(directory, { ...settings, ...(await this.#place()), ...environment });
    this.#service = service;
    if (!this.#registered) await register(service, this.#fleet.ids);
    this.#registered = true;
  }

  /** Settings of where the service stores. */
  async #place(): Promise<Readonly<Record<string, string>>> {
    if (this.#serve === undefined) return {};
    if (this.#served === undefined) {
      const served = await this.#serve();
      this.#served = { ...served, url: await served.server.database() };
    }
    return { WAYBEAM_STORE_URL: this.#served.url };
  }

  async #end(how: (service: Service) => Promise<unknown>): Promise<void> {
    const service = this.#service;
    this.#service = undefined;
    if (service !== undefined) await how(service);
    // What the kernel still holds of an acknowledgement may arrive now; the service sent it, so it counts.
    await sleep(50);
    this.#fleet.rest();
  }

  async #report(): Promise<void> {
    const before = this.#fleet.acked;
    await sleep(this.#pace.reportMs * (0.5 + this.#random() / 2));
    await this.#until(
      () => this.#fleet.acked > before,
      () => "a tracker is acknowledged",
    );
  }

  async #reported(messages: number): Promise<void> {
    while (this.#fleet.trackers.some(({ acked }) => acked < messages)) await this.#allAcknowledged();
  }

  #allAcknowledged(): Promise<void> {
    const before = this.#fleet.trackers.map(({ acked }) => acked);
    const waiting = () => this.#fleet.trackers.filter(({ acked }, index) => acked === before[index]);
    return this.#until(
      () => waiting().length === 0,
      () =>
        `all trackers are acknowledged again; waiting: ${waiting()
          .map(({ device }) => device)
          .join(", ")}`,
    );
  }

  async #until(holds: () => boolean, what: () => string): Promise<void> {
    for (const end = performance.now() + foreverMs; !holds(); await sleep(20))
      if (performance.now() > end)
        throw new Error(`not within ${foreverMs / 1000} s: ${typeof what === "string" ? what : what()}`);
  }

  /** Compares what the trackers know with what the API answers, once all are acknowledged again. */
  async #compare(): Promise<void> {
    await this.#start();
    await this.#allAcknowledged();
    await this.#within("the messages in flight are acknowledged", this.#fleet.finish());
    let records = 0;
    const since = { began: this.#clock ? undefined : this.#began, keptFrom: this.#histories?.keptFrom };
    for (const tracker of this.#fleet.trackers) records += await compareTracker(this.#running, tracker, since);
    const blocks = Number(/^waybeam_store_blocks (\d+)/m.exec(await this.#running.metrics())?.[1] ?? 0);
    this.#stored = { records, blocks };
  }

  async #within(what: string, work: Promise<void>): Promise<void> {
    let done = false;
    const marked = work.then(() => {
      done = true;
    });
    await this.#until(
      () => done,
      () => what,
    );
    await marked;
  }
}

/** Plays a fault on a service and folder of its own. */
export async function play(fault: Fault, pace: Pace, seed: number): Promise<Result> {
  const stage = new Stage(pace, seed, fault);
  const forget = atEnd(() => stage.close());
  const result = await stage.play(fault);
  const broken = [...result.broken, ...(await stage.finish())];
  await stage.close();
  forget();
  return { ...result, broken };
}
