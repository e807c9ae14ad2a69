import type { DeviceKey } from "../../src/model/device.ts";
import type { BusEvent } from "../../src/ports/bus.ts";
import { type BucketsHeir, bucketCount, bucketOf, type Processes } from "../../src/ports/processes.ts";

/** What is told comes so much later at most, ms. */
const mostDelayMs = 30;

/**
 * The processes of a service within a test, which says who follows what. What one tells, the others hear some
 * milliseconds later, in its order.
 */
export class TestProcesses {
  readonly #members = new Set<TestProcess>();
  /** Moves of shares, one after the other. */
  #moving: Promise<void> = Promise.resolve();
  #count = 0;

  join(): TestProcess {
    return new TestProcess(this, `process ${++this.#count}`);
  }

  get members(): ReadonlySet<TestProcess> {
    return this.#members;
  }

  /** Takes the shares that nobody has. */
  enter(process: TestProcess): void {
    this.#members.add(process);
    this.#tellOthers();
    this.#give(this.#free(), process);
  }

  #free(): readonly number[] {
    return [...Array(bucketCount).keys()].filter((bucket) => [...this.#members].every(({ own }) => !own.has(bucket)));
  }

  #give(buckets: readonly number[], process: TestProcess): void {
    for (const bucket of buckets) process.own.add(bucket);
    if (buckets.length > 0) process.heir?.gained(buckets);
  }

  #tellOthers(): void {
    for (const process of this.#members) process.tellOthers();
  }

  /** The share of a device goes to a process. Resolves when it has it. */
  move(device: DeviceKey, to: TestProcess): Promise<void> {
    const bucket = bucketOf(device);
    this.#moving = this.#moving.then(async () => {
      const from = [...this.#members].find(({ own }) => own.has(bucket));
      if (from === to || !this.#members.has(to)) return;
      from?.own.delete(bucket);
      await from?.heir?.lose([bucket]).catch((error: unknown) => {
        if (this.#members.has(from)) throw error;
      });
      // Meanwhile somebody may have been killed.
      if (this.#members.has(to)) this.#give([bucket], to);
      else this.share();
    });
    return this.#moving;
  }

  /** A process is no more. Its shares are nobody's until `share`. */
  leave(process: TestProcess): void {
    this.#members.delete(process);
    process.own.clear();
    this.#tellOthers();
  }

  /** Whoever is there takes what nobody has. */
  share(): void {
    const [first] = this.#members;
    if (first !== undefined) this.#give(this.#free(), first);
  }
}

/** One of them. */
export class TestProcess implements Processes {
  readonly name: string;
  readonly own = new Set<number>();
  heir: BucketsHeir | undefined;
  readonly #all: TestProcesses;
  readonly #onTold: ((event: BusEvent, teller: string) => void)[] = [];
  readonly #onOthers: ((others: readonly string[]) => void)[] = [];
  #told: BusEvent[] = [];

  constructor(all: TestProcesses, name: string) {
    this.#all = all;
    this.name = name;
  }

  get others(): readonly string[] {
    return [...this.#all.members].filter((one) => one !== this).map(({ name }) => name);
  }

  follows(device: DeviceKey): boolean {
    return this.own.has(bucketOf(device));
  }

  tell(event: BusEvent): void {
    if (this.#told.push(event) > 1) return;
    setTimeout(() => this.#tell(), Math.random() * mostDelayMs).unref();
  }

  #tell(): void {
    const events = this.#told;
    this.#told = [];
    if (!this.#all.members.has(this)) return;
    for (const process of this.#all.members)
      if (process !== this) for (const event of events) process.#hear(event, this.name);
  }

  #hear(event: BusEvent, teller: string): void {
    for (const listener of this.#onTold) listener(event, teller);
  }

  onTold(listener: (event: BusEvent, teller: string) => void): void {
    this.#onTold.push(listener);
  }

  onOthers(listener: (others: readonly string[]) => void): void {
    this.#onOthers.push(listener);
  }

  tellOthers(): void {
    for (const listener of this.#onOthers) listener(this.others);
  }

  async start(): Promise<void> {
    this.#all.enter(this);
  }

  async stop(): Promise<void> {
    this.#all.leave(this);
    this.#all.share();
  }
}
