import { Ways } from "../../src/ingest/ways.ts";
import type { SpokenWay } from "../../src/model/device.ts";
import type { Report } from "../../src/model/effects.ts";
import { systemClock } from "../../src/observe/index.ts";
import type { Admission, Admitted, CameBy, Guard, Intake, Outcome } from "../../src/ports/intake.ts";
import { silentLog } from "./silent-log.ts";

interface Waiting {
  readonly device: Admitted;
  readonly reports: readonly Report[];
  readonly done: (outcome: Outcome) => void;
}

/** A registered device whose `live` the test ends. */
class MemoryDevice implements Admitted {
  readonly status = "admitted";
  readonly key: number;
  readonly accountKey = 1;
  readonly id: string;
  readonly name = "Tracker";
  readonly expires = null;
  readonly odometerStart = 0;
  readonly model: string | undefined;
  ignoresChecksums = false;
  live = true;

  readonly guard: Guard | undefined;
  /** The ways by which it reported; kept over renewals, as the store keeps them. */
  ways: readonly SpokenWay[] = [];

  constructor(key: number, id: string, model: string | undefined, guard: Guard | undefined) {
    this.key = key;
    this.id = id;
    this.model = model;
    this.guard = guard;
  }
}

function memoryDevice(device: Admitted): MemoryDevice {
  if (device instanceof MemoryDevice) return device;
  throw new Error("not admitted here");
}

/** An intake that keeps everything in memory and commits at once, or when the test says so. */
export class MemoryIntake implements Intake {
  /** What is stored, by device. */
  readonly stored = new Map<string, Report[]>();
  /** Whether submissions wait for `commit`. */
  hold = false;
  /** Whether identifications wait for `answer`. */
  silent = false;
  /** Whether identification takes a turn of the event loop. */
  slow = false;
  /** Whether the store is down: identification rejects. */
  down = false;
  congested = false;
  /** Ids of devices of which no more is taken. */
  readonly full = new Set<string>();
  readonly #devices = new Map<string, MemoryDevice | "expired">();
  readonly #listeners: (() => void)[] = [];
  readonly #ways = new Ways({ spoke: async () => {} }, systemClock, silentLog);
  #waiting: Waiting[] = [];
  #asked: (() => void)[] = [];

  /** Registers a device, or renews it: who holds the old one must ask again. */
  register(id: string, expired = false, model?: string, guard?: Guard): void {
    const before = this.#devices.get(id);
    this.remove(id);
    const device = new MemoryDevice(this.#devices.size + 1, id, model, guard);
    if (before instanceof MemoryDevice) device.ways = before.ways;
    this.#devices.set(id, expired ? "expired" : device);
  }

  /** The device's maker never learned to sum. */
  ignoreChecksums(id: string): void {
    const device = this.#devices.get(id);
    if (device instanceof MemoryDevice) device.ignoresChecksums = true;
  }

  remove(id: string): void {
    const device = this.#devices.get(id);
    if (device instanceof MemoryDevice) device.live = false;
    this.#devices.delete(id);
  }

  admit(ids: readonly string[]): Admission | Promise<Admission> {
    return this.recall(ids) ?? this.ask(ids);
  }

  /** Nothing is remembered, so that each identification asks, as `silent`, `slow` and `down` want it. */
  recall(_ids: readonly string[]): Admitted | undefined {
    return undefined;
  }

  /** How often the store would have been asked. */
  questions = 0;

  ask(ids: readonly string[]): Admission | Promise<Admission> {
    this.questions++;
    if (this.down) return Promise.reject(new Error("the store is down"));
    const found = ids.map((id) => this.#devices.get(id)).find((device) => device !== undefined);
    const expired = { status: "expired" as const, id: ids[0] ?? "", accountKey: 1 };
    const admission: Admission =
      found instanceof MemoryDevice ? found : found === "expired" ? expired : { status: "unknown" };
    if (this.silent) return new Promise((resolve) => this.#asked.push(() => resolve(admission)));
    return this.slow ? new Promise((resolve) => setImmediate(resolve, admission)) : admission;
  }

  /** What is recorded of a device. */
  ways(id: string): readonly SpokenWay[] {
    const device = this.#devices.get(id);
    return device instanceof MemoryDevice ? device.ways : [];
  }

  spoke(device: Admitted, by: CameBy): SpokenWay {
    return this.#ways.spoke(memoryDevice(device), by);
  }

  trust(device: Admitted, way: SpokenWay): void {
    this.#ways.trust(memoryDevice(device), way);
  }

  /** How many identifications wait. */
  get asked(): number {
    return this.#asked.length;
  }

  /** Answers the identifications that wait. */
  answer(): void {
    const asked = this.#asked;
    this.#asked = [];
    for (const resolve of asked) resolve();
  }

  takes(device: Admitted): boolean {
    return !this.congested && !this.full.has(device.id);
  }

  submit(device: Admitted, reports: readonly Report[], _receivedAt: number, done: (outcome: Outcome) => void): void {
    this.#waiting.push({ device, reports, done });
    if (!this.hold) this.commit();
  }

  /** How often devices were heard of without anything to store. */
  heardOf = 0;
  heard(): void {
    this.heardOf++;
  }

  /** How many submissions wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Stores what waits and tells so. */
  commit(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    for (const { device, reports, done } of batch) {
      if (device.live) this.stored.set(device.id, [...(this.stored.get(device.id) ?? []), ...reports]);
      done(device.live ? "stored" : "refused");
    }
  }

  onDrained(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Takes messages again. */
  drain(): void {
    this.congested = false;
    for (const listener of this.#listeners) listener();
  }
}
