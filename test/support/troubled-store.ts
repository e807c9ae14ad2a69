import assert from "node:assert/strict";
import { Ingest } from "../../src/ingest/ingest.ts";
import { ingestMetrics } from "../../src/ingest/metrics.ts";
import type { Device, DeviceKey } from "../../src/model/device.ts";
import type { Fix } from "../../src/model/effects.ts";
import type { RefusedReport } from "../../src/model/refused.ts";
import { createLog, createMetrics } from "../../src/observe/index.ts";
import type { AppendedRecords, Following } from "../../src/ports/follow.ts";
import type { Admitted } from "../../src/ports/intake.ts";
import type { DeviceRecords } from "../../src/ports/positions.ts";
import { type Store, StoreUnavailable } from "../../src/ports/store.ts";
import { createMemoryBus } from "./bus.ts";
import { noAlertEngine } from "./no-alert-engine.ts";
import { device } from "./records.ts";

export const start = Date.UTC(2026, 5, 1);

/** Positions as the port promises them, and whatever trouble the test asks for. */
export class TroubledStore {
  devices: Device[] = [device({ key: 1, id: "a" }), device({ key: 2, id: "b" })];
  readonly appends: (readonly DeviceRecords[])[] = [];
  readonly refused: RefusedReport[] = [];
  /** Checks of the store that fail from now on. */
  down = 0;
  /** Devices whose records can't be appended. */
  readonly spoilt = new Set<DeviceKey>();
  tries = 0;
  /** What the next appends do first; taken one by one. */
  trouble: (() => Promise<unknown> | undefined)[] = [];

  async identify(ids: readonly string[]): Promise<Device | undefined> {
    return this.devices.find((one) => ids.includes(one.id));
  }

  async append(batch: readonly DeviceRecords[]): Promise<number> {
    this.tries++;
    await this.trouble.shift()?.();
    if (batch.some(({ device: key }) => this.spoilt.has(key)))
      throw new StoreUnavailable("memory ran out", undefined, "exhausted");
    this.appends.push(batch);
    return this.appends.length;
  }

  /** Records that are appended, by device. */
  get stored(): readonly (readonly [DeviceKey, number])[] {
    return this.appends.flatMap((batch) => batch.map(({ device: key, records }) => [key, records.length] as const));
  }

  get asStore(): Pick<Store, "positions" | "refused" | "devices" | "check"> {
    const positions = { append: (batch: readonly DeviceRecords[]) => this.append(batch) };
    const devices = { identify: (ids: readonly string[]) => this.identify(ids), spoke: async () => undefined };
    const refused = { add: async (reports: readonly RefusedReport[]) => this.refused.push(...reports) };
    const check = async () => {
      if (this.down-- > 0) throw new StoreUnavailable("disk full");
    };
    return { positions, refused, devices, check } as unknown as ReturnType<() => TroubledStore["asStore"]>;
  }
}

/** What ingest hands on once it is appended. */
class Followed implements Following {
  readonly appends: (readonly AppendedRecords[])[] = [];
  readonly heardOf: DeviceKey[] = [];
  lagBytes = 0;
  isFull = false;
  room: () => void = () => undefined;

  appended(batch: readonly AppendedRecords[]): void {
    this.appends.push(batch);
  }

  heard(device: DeviceKey): void {
    this.heardOf.push(device);
  }

  onRoom(listener: () => void): void {
    this.room = listener;
  }
}

/** Ingest over a troubled store, with a clock that the test turns. */
export function setUp() {
  const store = new TroubledStore();
  const following = new Followed();
  const engine = noAlertEngine;
  const bus = createMemoryBus();
  const clock = { time: start, now: () => clock.time, monotonic: () => clock.time };
  const metrics = ingestMetrics(createMetrics({ processMetrics: false }));
  const log = createLog("silent");
  const ingest = new Ingest(
    { maxFutureMs: 600_000 },
    { store: store.asStore, bus, clock, log, metrics, engine, following },
  );
  return { store, bus, clock, ingest, following };
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
