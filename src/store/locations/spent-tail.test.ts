import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { SpentRows } from "../records/spent.ts";
import { DeviceChunks } from "./device-chunks.ts";
import { SpentTail } from "./spent-tail.ts";

const bytes = 300;

/** Devices whose rows lie in one tail, which are sealed and trimmed as a store does. */
class World {
  readonly tail = new SpentTail();
  readonly chunks = [new DeviceChunks(), new DeviceChunks(), new DeviceChunks()];
  /** Rows that are in the tail, with their devices. */
  readonly stored = new Map<number, number>();
  readonly inUse = new Set<number>();
  readonly table = new Map<number, { readonly seq: number; readonly stays: readonly number[] }>();
  #next = 1;

  commit(device: number): void {
    const seq = this.#next++;
    this.chunks[device]?.insert(seq, seq, seq, 1, bytes);
    this.stored.set(seq, device);
    this.inUse.add(seq);
  }

  /** Seals some of a device's rows, as `takes` says for each. */
  seal(device: number, takes: (index: number) => boolean): void {
    const chunks = this.chunks[device] ?? new DeviceChunks();
    const rows = [...chunks.tailRows()].map(({ seq }) => seq).filter((_, index) => takes(index));
    const sealed = new Set(rows);
    const spent = this.tail.after(device, chunks, sealed);
    if (spent === undefined) for (const seq of sealed) this.stored.delete(seq);
    else {
      this.tail.sealed(device, spent, chunks, sealed);
      this.table.set(device, spent);
    }
    chunks.replace(sealed, []);
    for (const seq of sealed) this.inUse.delete(seq);
  }

  trim(): boolean {
    const trim = this.tail.next(this.inUse.size * bytes);
    if (trim === undefined) return false;
    const rows = [...this.stored.keys()].filter((seq) => seq >= trim.from && seq <= trim.to);
    const inUse = rows.length - trim.seqs.length;
    if (inUse <= trim.mostInUse)
      for (const seq of trim.seqs) {
        assert.ok(!this.inUse.has(seq), "a row that is in use is deleted");
        this.stored.delete(seq);
      }
    this.tail.trimmed(trim, inUse);
    return true;
  }

  /** What a start finds: the rows that the table does not tell to be spent. */
  found(): number[] {
    const rows = new SpentRows({ rows: [...this.table].map(([device, one]) => ({ device, ...one })), damaged: [] });
    return [...this.stored].filter(([seq, device]) => !rows.has({ seq, device })).map(([seq]) => seq);
  }
}

describe("spent rows", () => {
  it("are all that is not in use, whatever is sealed and trimmed", () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ commit: fc.nat(2), times: fc.integer({ min: 1, max: 60 }) }) },
      { weight: 2, arbitrary: fc.record({ seal: fc.nat(2), leaves: fc.constantFrom(1, 2, 7, 50, 1000) }) },
      { weight: 1, arbitrary: fc.record({ trims: fc.nat(3) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const world = new World();
        for (const one of steps) {
          if ("commit" in one) for (let left = one.times; left > 0; left--) world.commit(one.commit);
          else if ("seal" in one) world.seal(one.seal, (index) => (index + 1) % one.leaves !== 0 || one.leaves === 1);
          else for (let left = one.trims; left > 0; left--) world.trim();
          assert.deepEqual(world.found(), [...world.inUse]);
        }
      }),
    );
  });

  it("are deleted once nearly all rows around them are spent, however many devices there are", () => {
    const world = new World();
    for (let row = 0; row < 9000; row++) world.commit(row % 3);
    world.seal(0, () => true);
    world.seal(1, () => true);
    while (world.trim());
    assert.equal(world.stored.size, 9000, "a third of the rows is in use everywhere");
    // All but the newest 100 of the third device.
    world.seal(2, (index) => index < 2900);
    while (world.trim());
    assert.ok(world.stored.size < 1500, `${world.stored.size} rows are left`);
  });

  it("are deleted in any case once they have many more bytes than the rows that are in use", () => {
    const world = new World();
    const most = 5 * 16 * 1024 * 1024;
    for (let row = 0; row * bytes < most; row++) world.commit(row % 3 === 0 ? 0 : 1);
    world.seal(1, () => true);
    while (world.trim());
    assert.ok(world.tail.bytes <= world.inUse.size * bytes + 16 * 1024 * 1024);
  });

  it("of a device can be deleted by themselves", () => {
    const world = new World();
    for (let row = 0; row < 3000; row++) world.commit(row % 2);
    world.seal(0, () => true);
    assert.equal(world.tail.of(0).length, 1500);
    world.tail.deleted(world.tail.of(0));
    assert.deepEqual([world.tail.of(0), world.tail.bytes], [[], 0]);
  });
});
