import assert from "node:assert/strict";
import { noSums } from "../../src/fold/days.ts";
import { Ingest } from "../../src/ingest/ingest.ts";
import { ingestMetrics } from "../../src/ingest/metrics.ts";
import type { Device, DeviceKey } from "../../src/model/device.ts";
import type { Fix } from "../../src/model/effects.ts";
import type { RefusedReport } from "../../src/model/refused.ts";
import { createLog, createMetrics } from "../../src/observe/index.ts";
import type { AppendedRecords, Following, Heads } from "../../src/ports/follow.ts";
import type { Admitted } from "../../src/ports/intake.ts";
import type { DeviceRecords } from "../../src/ports/positions.ts";
import { type Store, StoreUnavailable } from "../../src/ports/store.ts";
import { createMemoryBus } from "./bus.ts";
import { device } from "./records.ts";

export const start = Date.UTC(2026, 5, 1);

/** Appends as the port promises them, and whatever trouble the test asks for. */
export class TroubledStore {
  devices: Device[] = [device({ key: 1, id: "a" }), device({ key: 2, id: "b" })];
  readonly appends: (readonly DeviceRecords[])[] = [];
  readonly refused: RefusedReport[] = [];
  /** Checks of the store that fail from now on. */
  down = 0;
  /** Appends that were asked for. */
  tries = 0;
  /** What the next appends do before they are done; taken one by one. */
  trouble: ((batch: readonly DeviceRecords[]) => Promise<void> | undefined)[] = [];
  /** What is done after each append, before it is answered. */
  answering: (() => Promise<void>) | undefined;
  /** What keeping refused reports does before it is done. */
  refusing: (() => Promise<void>) | undefined;
  /** What identifying does before it is done. */
  identifying: ((ids: readonly string[]) => Promise<void>) | undefined;

  async #append(batch: readonly DeviceRecords[]): Promise<number> {
    this.tries++;
    await this.trouble.shift()?.(batch);
    this.appends.push(batch);
    const place = this.appends.length;
    await this.answering?.();
    return place;
  }

  /** Records that were appended, by device. */
  get stored(): readonly (readonly [DeviceKey, number])[] {
    return this.appends.flatMap((batch) => batch.map(({ device: key, records }) => [key, records.length] as const));
  }

  get asStore(): Pick<Store, "positions" | "refused" | "devices" | "check"> {
    const store = {
      positions: { append: (batch: readonly DeviceRecords[]) => this.#append(batch) },
      refused: {
        add: async (reports: readonly RefusedReport[]) => {
          await this.refusing?.();
          this.refused.push(...reports);
          return 0;
        },
      },
      devices: {
        identify: async (ids: readonly string[]) => {
          await this.identifying?.(ids);
          return this.devices.find((one) => ids.includes(one.id));
        },
        spoke: async () => undefined,
      },
      check: async () => {
        if (this.down-- > 0) throw new StoreUnavailable("disk full");
      },
    };
    return store as unknown as Pick<Store, "positions" | "refused" | "devices" | "check">;
  }
}

/** What a follower is told. */
export class Followed implements Following, Heads {
  readonly batches: { readonly batch: readonly AppendedRecords[]; readonly place: number }[] = [];
  readonly heardOf: (readonly [DeviceKey, number])[] = [];
  /** Event times of what may be appended, by device. */
  readonly unsure: { readonly device: DeviceKey; readonly from: number; readonly to: number }[] = [];
  readonly #listeners: (() => void)[] = [];
  lagBytes = 0;
  #isFull = false;

  get isFull(): boolean {
    return this.#isFull;
  }

  set isFull(isFull: boolean) {
    this.#isFull = isFull;
    if (!isFull) for (const listener of this.#listeners) listener();
  }

  appended(batch: readonly AppendedRecords[], place: number): void {
    this.batches.push({ batch, place });
  }

  mayBeAppended(key: DeviceKey, span: { readonly from: number; readonly to: number }): void {
    this.unsure.push({ device: key, ...span });
  }

  heard({ key }: { readonly key: DeviceKey }, now: number): void {
    this.heardOf.push([key, now]);
  }

  /** What it would have by the newest record alone. */
  head(key: DeviceKey): ReturnType<Heads["head"]> {
    const records = this.batches.flatMap(({ batch }) =>
      batch.flatMap(({ device: { key: of }, records: own }) => (of === key ? own : [])),
    );
    const [newest] = records.toSorted((one, other) => other.time - one.time);
    return newest && { newest, sumsBefore: noSums, late: [] };
  }

  onRoom(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

/** Ingest over a troubled store, with a clock that the test turns. */
export function setUp() {
  const store = new TroubledStore();
  const following = new Followed();
  const bus = createMemoryBus();
  const clock = { time: start, now: () => clock.time, monotonic: () => clock.time };
  const registry = createMetrics({ processMetrics: false });
  const [metrics, log] = [ingestMetrics(registry), createLog("silent")];
  const engine = { watches: () => false };
  const ingest = new Ingest(
    { maxFutureMs: 600_000 },
    { store: store.asStore, following, bus, clock, log, metrics, engine },
  );
  /** What a counter of ingest says. */
  const counted = async (name: string) =>
    Number(new RegExp(`^waybeam_ingest_${name} (\\S+)$`, "m").exec(await registry.text())?.[1]);
  return { store, following, bus, clock, ingest, counted };
}

/** A registered device. */
export async function admitted(ingest: Ingest, id: string): Promise<Admitted> {
  const admission = await ingest.admit([id]);
  assert.ok(admission.status === "admitted");
  return admission;
}

/** A fix at a second. */
export function fix(second: number): Fix {
  const readings = {};
  return {
    type: "fix",
    time: start + second * 1000,
    valid: true,
    latitude: 48,
    longitude: 11,
    alarms: [],
    readings,
    attributes: {},
  };
}

/** Submits one fix; `outcomes` gets every answer, so that two would show. */
export function submit(ingest: Ingest, to: Admitted, second: number, outcomes: string[]): Promise<void> {
  return new Promise((resolve) =>
    ingest.submit(to, [fix(second)], start, (outcome) => {
      outcomes.push(outcome);
      resolve();
    }),
  );
}
