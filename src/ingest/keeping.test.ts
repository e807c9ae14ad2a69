import assert from "node:assert/strict";
import { test } from "node:test";
import type { CommitBatch } from "../model/commit.ts";
import { type DeviceState, neverReported } from "../model/location.ts";
import type { DeletedPositions } from "../ports/retention.ts";
import { type CommitConflict, StoreUnavailable } from "../ports/store.ts";
import { Keeping } from "./keeping.ts";
import { States } from "./states.ts";

const device = 7;
const old = { count: 30, from: 10, to: 90, keptFrom: 101 };

/** A store with a device that has old positions, and what was asked of it, in order. */
function build(stored: DeviceState = { ...neverReported, version: 4, time: 200 }) {
  const world = { state: stored, old, fails: false, conflicts: false, deleted: 0 };
  const asked: string[] = [];
  const locations = {
    states: async () => [world.state],
    async commit({ devices: [commit] }: CommitBatch): Promise<CommitConflict | undefined> {
      asked.push(`keptFrom ${commit?.state.keptFrom}`);
      if (world.conflicts) return { conflicts: [device] };
      assert.equal(commit?.state.version, world.state.version + 1);
      assert.equal(commit.follows, undefined);
      world.state = commit.state;
      if (world.fails) throw new StoreUnavailable("unheard");
      return undefined;
    },
    oldPositions: async () => [world.old],
    async deleteOld(_device: number, before: number): Promise<DeletedPositions> {
      asked.push(`delete before ${before}`);
      return { positions: 30, more: false };
    },
  };
  const states = new States(locations);
  const deleted = {
    add(count = 1) {
      world.deleted += count;
    },
  };
  return { world, asked, states, keeping: new Keeping({ locations, states, deleted }) };
}

test("the state says from when on positions are kept before any is deleted", async () => {
  const { world, asked, states, keeping } = build();
  assert.deepEqual(await keeping.deleteBefore(device, 150), { positions: 30, more: false });
  assert.deepEqual(asked, ["keptFrom 101", "delete before 101"]);
  assert.equal(world.deleted, 30);
  assert.equal(states.get(device)?.keptFrom, 101);
  assert.equal(keeping.keptFrom(device), 101);
  // What a step left is deleted without another commit.
  await keeping.deleteBefore(device, 150);
  assert.deepEqual(asked, ["keptFrom 101", "delete before 101", "delete before 101"]);
});

test("it never goes back", async () => {
  const { world, keeping } = build({ ...neverReported, version: 4, time: 200, keptFrom: 120 });
  await keeping.deleteBefore(device, 150);
  assert.equal(world.state.keptFrom, 120);
  assert.equal(await keeping.keptFrom(device), 120);
});

test("nothing is committed where nothing is old", async () => {
  const { world, asked, keeping } = build();
  world.old = { count: 0, from: 0, to: 0, keptFrom: 0 };
  assert.deepEqual(await keeping.deleteBefore(device, 150), { positions: 0, more: false });
  assert.deepEqual(asked, []);
});

test("a device that reports at the same moment is tried again, with its state as it is then", async () => {
  const { world, asked, states, keeping } = build();
  world.conflicts = true;
  await states.load([device]);
  assert.deepEqual(await keeping.deleteBefore(device, 150), { positions: 0, more: true });
  assert.equal(states.get(device), undefined);
  world.conflicts = false;
  world.state = { ...world.state, version: 9 };
  assert.deepEqual(await keeping.deleteBefore(device, 150), { positions: 30, more: false });
  assert.deepEqual(asked, ["keptFrom 101", "keptFrom 101", "delete before 101"]);
});

test("a commit that was not answered may be on disk: its state is read again, and nothing was deleted", async () => {
  const { world, asked, states, keeping } = build();
  world.fails = true;
  await assert.rejects(keeping.deleteBefore(device, 150), StoreUnavailable);
  assert.equal(states.get(device), undefined);
  world.fails = false;
  await keeping.deleteBefore(device, 150);
  assert.deepEqual(asked, ["keptFrom 101", "delete before 101"]);
});
