import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Fix } from "../../src/model/effects.ts";
import type { Admitted } from "../../src/ports/intake.ts";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { World } from "./any-order.ts";
import { findingsOf, folder } from "./kept-states.ts";
import { contentOf, foldedTotals, type Location, totalsOf, withoutTotals } from "./location-content.ts";

const receivedAt = Date.UTC(2026, 6, 1);

/** A device whose old positions are deleted while it reports, and what was accepted of its reports. */
export class Deleting {
  readonly #context: TestContext;
  readonly #id: string;
  readonly #seals: boolean;
  readonly #accepted = new Set<Fix>();
  world: World;
  device!: Admitted;
  keptFrom = Number.NEGATIVE_INFINITY;

  private constructor(context: TestContext, world: World, id: string, seals: boolean) {
    this.#context = context;
    this.#id = id;
    this.#seals = seals;
    this.world = world;
  }

  static async begin(context: TestContext, seals: boolean): Promise<Deleting> {
    const world = new World(folder(context));
    await world.start();
    const { id } = await makeDevice(world.store, (await makeAccount(world.store)).key);
    const one = new Deleting(context, world, id, seals);
    one.device = await world.admitted(id);
    return one;
  }

  /** Delivers reports; meanwhile positions before a moment are deleted that is not behind any of the reports, or nothing is. */
  async deliver(fixes: readonly Fix[], before?: number): Promise<void> {
    // Which of these the device takes must not depend on who is faster.
    const least = fixes.reduce((time, fix) => Math.min(time, fix.time), Number.POSITIVE_INFINITY);
    const kept = fixes.filter(({ time }) => time >= this.keptFrom);
    const deleting = before === undefined ? undefined : this.delete(Math.min(before, least));
    // A tracker that is not acknowledged sends again.
    while ((await this.#submitted(fixes)) !== "stored") await sleep(5);
    await deleting;
    for (const fix of kept) this.#accepted.add(fix);
  }

  /** One step of deleting. It may fail; then it is tried again. */
  async delete(before: number): Promise<void> {
    const { keeping } = this.world.ingest;
    const sealing = this.#seals ? this.world.store.seal(this.device.key) : undefined;
    while (!(await this.#tried(() => keeping.deleteBefore(this.device.key, before)))) await sleep(5);
    await sealing;
    while (!(await this.#tried(() => this.#lookAtHorizon(before)))) await sleep(5);
  }

  async #tried(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      assert.ok(error instanceof StoreUnavailable, String(error));
      return false;
    }
  }

  async #lookAtHorizon(before: number): Promise<void> {
    const keptFrom = await this.world.ingest.keeping.keptFrom(this.device.key);
    if (keptFrom === undefined) return;
    assert.ok(keptFrom >= this.keptFrom, "it never goes back");
    assert.ok(keptFrom <= Math.max(before, this.keptFrom), "it goes no further than what is deleted");
    this.keptFrom = keptFrom;
  }

  /** How many positions the store says that were deleted. */
  get deleted(): number {
    const database = new DatabaseSync(join(this.world.place, "waybeam.db"), { readOnly: true });
    const row = database.prepare("select deleted from device_state where device = ?").get(this.device.key);
    database.close();
    return Number(row?.deleted);
  }

  #submitted(fixes: readonly Fix[]): Promise<string> {
    return new Promise((resolve) => this.world.ingest.submit(this.device, fixes, receivedAt, resolve));
  }

  async reopen(): Promise<void> {
    await this.world.stop();
    await this.world.start();
    this.device = await this.world.admitted(this.#id);
  }

  /** Goes on with what a crash at this moment leaves on the disk. */
  async crash(): Promise<void> {
    const copy = folder(this.#context);
    cpSync(this.world.place, copy, { recursive: true, filter: (path) => !path.endsWith(".lock") });
    await this.world.stop();
    assert.deepEqual(await findingsOf(copy), []);
    this.world = new World(copy);
    await this.world.start();
    this.device = await this.world.admitted(this.#id);
  }

  /** What is left is that of the plain fold over all that was accepted, and nothing is missing from `keptFrom` on. */
  async compare(what: string): Promise<void> {
    const { store } = this.world;
    const contents = [...this.#accepted].toSorted((one, other) => one.time - other.time).map(contentOf);
    const all = contents as unknown as readonly Location[];
    const totals = foldedTotals(all);
    const expected = new Map(all.map((location, at) => [location.attributes.number, { at, location }]));
    const stored = await this.world.history(this.device.key);
    const places: number[] = [];
    for (const location of stored) {
      const { at, location: content } = expected.get(location.attributes.number) ?? assert.fail(what);
      assert.deepEqual(withoutTotals(location).content, content, what);
      assert.deepEqual(totalsOf(location), totals[at], `totals ${what}`);
      places.push(at);
    }
    assert.deepEqual(
      places,
      places.toSorted((one, other) => one - other),
      `order ${what}`,
    );
    assert.equal(new Set(places).size, places.length, `once ${what}`);
    const kept = all.filter(({ dateTime }) => Date.parse(dateTime) >= this.keptFrom).length;
    const shown = stored.filter(({ dateTime }) => Date.parse(dateTime) >= this.keptFrom).length;
    assert.equal(shown, kept, `all that is kept ${what}`);
    assert.equal(stored.length + this.deleted, all.length, `deleted ${what}`);
    const [state] = await store.locations.states([this.device.key]);
    assert.equal(state?.arrivals, all.length, what);
    if (all.length === 0) return;
    assert.equal(Math.round((state?.totals.odometerMm ?? 0) / 1000) / 1000, totals.at(-1)?.milleage, `state ${what}`);
    assert.equal(state?.time, Date.parse(all.at(-1)?.dateTime ?? ""), what);
    const last = await this.world.ingest.states.lastLocation(this.device.key, 0);
    assert.deepEqual(totalsOf(JSON.parse(last ?? "{}")), totals.at(-1), `last ${what}`);
  }

  async end(): Promise<void> {
    await this.world.stop();
    assert.deepEqual(await findingsOf(this.world.place), []);
  }
}
