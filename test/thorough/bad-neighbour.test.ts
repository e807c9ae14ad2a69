import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createMemoryBus } from "../../src/bus/memory.ts";
import { Ingest } from "../../src/ingest/ingest.ts";
import { ingestMetrics } from "../../src/ingest/metrics.ts";
import type { Alert } from "../../src/model/alert.ts";
import type { Fix } from "../../src/model/effects.ts";
import { createMetrics, systemClock } from "../../src/observe/index.ts";
import type { AlertEngine, Watch } from "../../src/ports/alert-engine.ts";
import type { Admitted } from "../../src/ports/intake.ts";
import type { Store } from "../../src/ports/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { deviceFields } from "../contract/store/harness.ts";
import { noAlertEngine } from "../support/no-alert-engine.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";

const start = Date.UTC(2026, 5, 1);
const pageSize = 8192;

const fields = (id: string) => deviceFields({ id, name: id });

function fix(minute: number, attributes: Readonly<Record<string, string>> = {}): Fix {
  const time = start + minute * 60_000;
  return { type: "fix", time, valid: true, latitude: 48, longitude: 11, alarms: [], readings: {}, attributes };
}

/** Texts that are too long for one page: the device's row continues in pages of its own. */
const longTexts = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`text${index}`, "Q".repeat(4000)]));

/** Ingest over the real store of a folder, as a start of the service has it. */
class World {
  readonly #folder: string;
  #store: Store | undefined;
  #ingest: Ingest | undefined;

  constructor(context: TestContext) {
    this.#folder = dataFolder();
    context.after(async () => {
      await this.stop();
      removeFolder(this.#folder);
    });
  }

  get ingest(): Ingest {
    return this.#ingest ?? assert.fail("not started");
  }

  async start(engine: AlertEngine = noAlertEngine): Promise<void> {
    const store = await openSqliteStore({ directory: this.#folder, log: silentLog, pid: process.pid });
    const metrics = ingestMetrics(createMetrics({ processMetrics: false }));
    const bus = createMemoryBus((error) => assert.fail(String(error)));
    const parts = { store, bus, clock: systemClock, log: silentLog, metrics, engine };
    this.#store = store;
    this.#ingest = new Ingest({ maxFutureMs: 600_000 }, parts);
  }

  async stop(): Promise<void> {
    await this.#ingest?.stop();
    await this.#store?.close();
    this.#ingest = undefined;
    this.#store = undefined;
  }

  async add(id: string): Promise<void> {
    const accounts = this.#store?.accounts ?? assert.fail("not started");
    const known = await accounts.list();
    const first = { id: "first", name: "First", timeZone: "Etc/UTC", licenses: 100 };
    const account = known[0] ?? (await accounts.create({ ...first, language: "en" }, start));
    await this.#store?.devices.create(account.key, fields(id), Date.now());
  }

  async admitted(id: string): Promise<Admitted> {
    const admission = await this.ingest.admit([id]);
    assert.ok(admission.status === "admitted");
    return admission;
  }

  submit(device: Admitted, ...reports: readonly Fix[]): Promise<string> {
    return new Promise((resolve) => this.ingest.submit(device, reports, start + 86_400_000, resolve));
  }

  /** Damages the pages that hold little but this character. Gives how many there were. */
  damage(mark: string): number {
    const file = join(this.#folder, "waybeam.db");
    const bytes = readFileSync(file);
    let pages = 0;
    for (let at = 0; at < bytes.length; at += pageSize) {
      // A page by which a row goes on has four bytes of its own, the number of the next.
      const page = bytes.subarray(at, at + pageSize);
      if (page.reduce((count, byte) => count + (byte === mark.charCodeAt(0) ? 1 : 0), 0) < pageSize - 100) continue;
      bytes.fill(0xff, at, at + pageSize);
      pages++;
    }
    writeFileSync(file, bytes);
    return pages;
  }
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `device-${index}`);

for (const [where, culprits] of [
  ["first", [0]],
  ["in the middle", [11]],
  ["last", [23]],
  ["two of them", [7, 8]],
] as const)
  test(`a damaged page of one device (${where}): the others go on being acknowledged`, {
    timeout: 60_000,
  }, async (context) => {
    const world = new World(context);
    await world.start();
    for (const id of names(24)) {
      await world.add(id);
      const culprit = culprits.some((index) => id === `device-${index}`);
      const device = await world.admitted(id);
      const stored = await world.submit(device, fix(1, culprit ? longTexts : {}));
      assert.equal(stored, "stored");
    }
    await world.stop();
    assert.ok(world.damage("Q") > culprits.length);
    await world.start();
    const devices = await Promise.all(names(24).map((id) => world.admitted(id)));
    for (let minute = 2; minute < 5; minute++) {
      const outcomes = await Promise.all(devices.map((device) => world.submit(device, fix(minute))));
      assert.deepEqual(
        outcomes.flatMap((outcome, index) => (outcome === "stored" ? [] : [index])),
        culprits,
      );
      await world.ingest.check();
    }
    for (const index of culprits)
      assert.equal(world.ingest.setAside(devices[index]?.key ?? 0)?.cause, "damaged", "its account sees why");
    assert.equal(world.ingest.aside.size, culprits.length);
    // Late reports need the history, which is damaged too; those of others do not fail with it.
    const late = await Promise.all(devices.map((device) => world.submit(device, fix(0))));
    assert.equal(late.filter((outcome) => outcome === "stored").length, 24 - culprits.length);
  });

/** An engine whose rules find texts of so many bytes for one device: more than the writer's heap. */
function floodOf(id: string, bytes: number): AlertEngine {
  const alert = (device: number): Alert => ({
    id: crypto.randomUUID(),
    device,
    ruleKey: 1,
    ruleId: "rule",
    name: "Flood",
    type: "sos",
    phase: "raised",
    time: start,
    raisedAt: start,
    latitude: null,
    longitude: null,
    speed: null,
    critical: false,
    late: false,
    facts: {},
    text: crypto.randomUUID().repeat(30_000),
  });
  return {
    ...noAlertEngine,
    watches: (device) => device.id === id,
    watch(device): Watch | undefined {
      if (device.id !== id) return undefined;
      const alerts = Array.from({ length: Math.ceil(bytes / 1_080_000) }, () => alert(device.key));
      return {
        full: false,
        mostBesideLate: 1000,
        observe: () => undefined,
        late: () => {},
        tick() {},
        outcome: () => ({ rules: undefined, alerts, notices: [] }),
      };
    },
  };
}

test("a writer that runs out of its heap over one device: the others go on being acknowledged", {
  timeout: 60_000,
}, async (context) => {
  const world = new World(context);
  await world.start(floodOf("device-5", 200_000_000));
  for (const id of names(8)) await world.add(id);
  const devices = await Promise.all(names(8).map((id) => world.admitted(id)));
  for (let minute = 1; minute < 3; minute++) {
    const outcomes = await Promise.all(devices.map((device) => world.submit(device, fix(minute))));
    assert.deepEqual(
      outcomes.flatMap((outcome, index) => (outcome === "stored" ? [] : [index])),
      [5],
    );
  }
  assert.equal(world.ingest.setAside(devices[5]?.key ?? 0)?.cause, "tooLarge");
});

test("a message that can't be cloned is its device's fault alone", { timeout: 60_000 }, async (context) => {
  const world = new World(context);
  const unclonable = floodOf("device-1", 1);
  await world.start({
    ...unclonable,
    watch(device, state, now) {
      const watch = unclonable.watch(device, state, now);
      const outcome = watch?.outcome();
      if (watch === undefined || outcome === undefined) return undefined;
      // What a defect of a rule may leave in an alert.
      const alerts = outcome.alerts.map((alert) => ({ ...alert, text: (() => "text") as unknown as string }));
      return { ...watch, outcome: () => ({ ...outcome, alerts }) };
    },
  });
  for (const id of names(3)) await world.add(id);
  const devices = await Promise.all(names(3).map((id) => world.admitted(id)));
  const outcomes = await Promise.all(devices.map((device) => world.submit(device, fix(1))));
  assert.deepEqual(outcomes, ["stored", "failed", "stored"]);
  assert.equal(world.ingest.setAside(devices[1]?.key ?? 0)?.cause, "defect");
});
