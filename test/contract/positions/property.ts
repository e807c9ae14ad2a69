import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { DeviceKey } from "../../../src/model/device.ts";
import type { SaidRecord } from "../../../src/model/said.ts";
import type { PositionHarness, PositionsUnderTest } from "./harness.ts";
import { everything, readAll, said, someSaid, sortedOnce } from "./said.ts";

/** What happens to an engine. Devices are counted from 0. */
type Act =
  | { readonly type: "append"; readonly batch: readonly (readonly SaidRecord[])[] }
  /** What some device said before comes again, beside something new. */
  | { readonly type: "again"; readonly device: number; readonly every: number; readonly more: readonly SaidRecord[] }
  /** A backlog in order, enough for blocks that are not small: from a tick on, every so many ticks one. */
  | { readonly type: "many"; readonly device: number; readonly tick: number; readonly step: number }
  | { readonly type: "settle" | "reopen" }
  /** The process ends while the engine works on what was appended. */
  | { readonly type: "kill"; readonly afterMs: number }
  | { readonly type: "deleteBefore"; readonly device: number; readonly tick: number };

const devices = 3;
const someDevice = fc.nat(devices - 1);
const some = fc.array(someSaid, { maxLength: 12 });
const someAct: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant("append" as const), batch: fc.array(some, { maxLength: devices }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("again" as const),
      device: someDevice,
      every: fc.integer({ min: 1, max: 4 }),
      more: some,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("many" as const),
      device: someDevice,
      tick: fc.integer({ min: -200, max: 200 }),
      step: fc.constantFrom(0.01, 0.25, 1, 3),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("settle" as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("reopen" as const) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("kill" as const), afterMs: fc.nat(15) }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("deleteBefore" as const), device: someDevice, tick: fc.nat(150) }),
  },
);

/** What an engine must give, in the plainest form. */
class Model {
  readonly #said: SaidRecord[][] = Array.from({ length: devices }, () => []);
  readonly #since: number[] = Array.from({ length: devices }, () => Number.NEGATIVE_INFINITY);

  add(device: number, records: readonly SaidRecord[]): void {
    this.#said[device]?.push(...records);
  }

  every(device: number, every: number): readonly SaidRecord[] {
    return (this.#said[device] ?? []).filter((_, index) => index % every === 0);
  }

  deleteBefore(device: number, moment: number): void {
    this.#since[device] = Math.max(this.#since[device] ?? 0, moment);
  }

  records(device: number): readonly SaidRecord[] {
    return sortedOnce(this.#said[device] ?? []).filter(({ time }) => time >= (this.#since[device] ?? 0));
  }
}

class Run {
  readonly #harness: PositionHarness;
  readonly #model = new Model();
  readonly #keys: readonly DeviceKey[];
  #store: PositionsUnderTest;

  constructor(harness: PositionHarness, store: PositionsUnderTest, keys: readonly DeviceKey[]) {
    this.#harness = harness;
    this.#store = store;
    this.#keys = keys;
  }

  get store(): PositionsUnderTest {
    return this.#store;
  }

  key(device: number): DeviceKey {
    return this.#keys[device] ?? 0;
  }

  async act(act: Act): Promise<void> {
    if (act.type === "append") await this.#append(act.batch);
    else if (act.type === "again") await this.#again(act);
    else if (act.type === "many") await this.#many(act);
    else if (act.type === "settle") await this.#store.settle();
    else if (act.type === "deleteBefore") {
      const moment = someMoment(act.tick);
      await this.#store.deleteBefore(this.key(act.device), moment);
      this.#model.deleteBefore(act.device, moment);
    } else {
      if (act.type === "kill") await this.#kill(act.afterMs);
      else await this.#store.close();
      this.#store = await this.#harness.open();
    }
  }

  async #append(batch: readonly (readonly SaidRecord[])[]): Promise<void> {
    await this.#store.append(batch.map((records, device) => ({ device: this.key(device), records })));
    for (const [device, records] of batch.entries()) this.#model.add(device, records);
  }

  async #again({ device, every, more }: Extract<Act, { type: "again" }>): Promise<void> {
    const records = [...more, ...this.#model.every(device, every)];
    await this.#store.append([{ device: this.key(device), records }]);
    this.#model.add(device, records);
  }

  async #many({ device, tick, step }: Extract<Act, { type: "many" }>): Promise<void> {
    const records = Array.from({ length: 700 }, (_, index) => said((tick + index * step) / 2));
    await this.#store.append([{ device: this.key(device), records }]);
    this.#model.add(device, records);
  }

  async #kill(afterMs: number): Promise<void> {
    const settling = this.#store.settle().catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    await this.#store.kill();
    await settling;
    await this.#store.close();
  }

  async compare(): Promise<void> {
    for (let device = 0; device < devices; device++) {
      const expected = this.#model.records(device);
      const { records, unreadable } = await readAll(this.#store, this.key(device));
      assert.deepEqual(unreadable, []);
      assert.deepEqual(records, expected);
      await this.#compareParts(device, expected);
    }
  }

  async #compareParts(device: number, expected: readonly SaidRecord[]): Promise<void> {
    const [from, to] = [someMoment(60), someMoment(200)];
    const within = expected.filter(({ time }) => time >= from && time <= to);
    const part = await readAll(this.#store, this.key(device), { from, to, limit: 70 });
    assert.deepEqual(part.records, within);
    const page = await this.#store.read(this.key(device), { ...everything, limit: 1 });
    assert.deepEqual(page.records, expected.slice(0, 1));
  }
}

function someMoment(tick: number): number {
  return Date.UTC(2026, 10, 20, 12) + tick * 500;
}

/** Whatever happens in whatever order, what is read is the sorted merge of what was appended, repeats dropped. */
export function propertyContract(harness: () => PositionHarness, runs: number): void {
  describe("any history", () => {
    it("reads as the plain sorted merge, in any order, split, with repeats, settling, deletions and kills", async () => {
      let next = 1000;
      await fc.assert(
        fc.asyncProperty(fc.array(someAct, { minLength: 1, maxLength: 12 }), async (acts) => {
          next += devices;
          const keys = Array.from({ length: devices }, (_, index) => next + index);
          const run = new Run(harness(), await harness().open(), keys);
          try {
            for (const act of acts) await run.act(act);
            await run.compare();
            await run.store.settle();
            await run.compare();
          } finally {
            await run.store.close();
          }
        }),
        { numRuns: runs },
      );
    });
  });
}
