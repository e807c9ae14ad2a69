import assert from "node:assert/strict";
import { Ingest } from "../../src/ingest/ingest.ts";
import { ingestMetrics } from "../../src/ingest/metrics.ts";
import type { CommitBatch } from "../../src/model/commit.ts";
import type { Device, DeviceKey } from "../../src/model/device.ts";
import type { Fix } from "../../src/model/effects.ts";
import { type DeviceState, type LocationRecord, neverReported, type RecordPlace } from "../../src/model/location.ts";
import { createLog, createMetrics } from "../../src/observe/index.ts";
import type { AlertEngine } from "../../src/ports/alert-engine.ts";
import type { Admitted } from "../../src/ports/intake.ts";
import {
  type CommitConflict,
  type HistoryContext,
  type Moment,
  type Store,
  StoreUnavailable,
} from "../../src/ports/store.ts";
import { createMemoryBus } from "./bus.ts";
import { noAlertEngine } from "./no-alert-engine.ts";
import { device } from "./records.ts";

export const start = Date.UTC(2026, 5, 1);

/** States and versions as the port promises them, and whatever trouble the test asks for. */
export class TroubledStore {
  devices: Device[] = [device({ key: 1, id: "a" }), device({ key: 2, id: "b" })];
  readonly states = new Map<DeviceKey, DeviceState>();
  readonly commits: CommitBatch[] = [];
  /** Checks of the store that fail from now on. */
  down = 0;
  /** Devices whose rows can't be written. */
  readonly spoilt = new Set<DeviceKey>();
  tries = 0;
  /** What late reports are shown of the history. */
  history: readonly LocationRecord[] = [];
  /** What the next commits do instead; taken one by one. */
  trouble: (() => Promise<CommitConflict | undefined> | undefined)[] = [];

  async identify(ids: readonly string[]): Promise<Device | undefined> {
    return this.devices.find((one) => ids.includes(one.id));
  }

  async readStates(keys: readonly DeviceKey[]): Promise<readonly DeviceState[]> {
    return keys.map((key) => this.states.get(key) ?? neverReported);
  }

  async commit(given: CommitBatch, written?: () => void): Promise<CommitConflict | undefined> {
    // As the port allows: the records are needed no more before it is known what becomes of them.
    const batch = { ...given, devices: given.devices.map((one) => ({ ...one, records: [...one.records] })) };
    written?.();
    this.tries++;
    const trouble = this.trouble.shift()?.();
    if (trouble !== undefined) return trouble;
    if (batch.devices.some(({ device: key }) => this.spoilt.has(key)))
      throw new StoreUnavailable("a damaged page", undefined, "damaged");
    const gone = batch.devices.filter(
      ({ device: key, state }) =>
        !this.devices.some((one) => one.key === key) || (this.states.get(key)?.version ?? 0) + 1 !== state.version,
    );
    if (gone.length > 0) return { conflicts: gone.map(({ device: key }) => key) };
    for (const { device: key, state } of batch.devices) this.states.set(key, state);
    this.commits.push(batch);
    return undefined;
  }

  /** Records that are stored, by device. */
  get stored(): readonly (readonly [DeviceKey, number])[] {
    return this.commits.flatMap(({ devices }) =>
      devices.map(({ device: key, records }) => [key, records.length] as const),
    );
  }

  /** What surrounds a late report. */
  readContext = async (_limit: number, _time: number): Promise<HistoryContext> => ({ from: this.history, more: false });

  /** What is stored of one moment. */
  readMoment = async (): Promise<Moment> => ({ hashes: [] });

  /** Resolves when histories can be read. */
  readable = async (): Promise<void> => undefined;

  /** Records that are said to be stored in any range of time. Undefined: those of the history. */
  count: number | undefined;

  get asStore(): Pick<Store, "locations" | "devices" | "alerts" | "check"> {
    const locations = {
      states: (keys: readonly DeviceKey[]) => this.readStates(keys),
      commit: (batch: CommitBatch, written?: () => void) => this.commit(batch, written),
      context: (_key: DeviceKey, place: RecordPlace, limit: number) => this.readContext(limit, place.time),
      packedContext: async (_key: DeviceKey, place: RecordPlace, limit: number) => {
        const context = await this.readContext(limit, place.time);
        return { bytes: 0, unpack: () => context };
      },
      moment: async () => {
        await this.readable();
        return this.readMoment();
      },
      readable: () => this.readable(),
      countAbout: (_key: DeviceKey, from: number, to: number) =>
        this.count ?? this.history.filter(({ time }) => time >= from && time <= to).length,
    };
    const devices = { identify: (ids: readonly string[]) => this.identify(ids) };
    const check = async () => {
      if (this.down-- > 0) throw new StoreUnavailable("disk full");
    };
    const alerts = { list: async () => [] };
    return { locations, devices, alerts, check } as unknown as Pick<
      Store,
      "locations" | "devices" | "alerts" | "check"
    >;
  }
}

/** Ingest over a troubled store, with a clock that the test turns. */
export function setUp(engine: AlertEngine = noAlertEngine) {
  const store = new TroubledStore();
  const bus = createMemoryBus();
  const clock = { time: start, now: () => clock.time, monotonic: () => clock.time };
  const metrics = ingestMetrics(createMetrics({ processMetrics: false }));
  const log = createLog("silent");
  const ingest = new Ingest({ maxFutureMs: 600_000 }, { store: store.asStore, bus, clock, log, metrics, engine });
  return { store, bus, clock, ingest };
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
