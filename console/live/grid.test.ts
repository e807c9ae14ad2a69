import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bubbleAt, deviceAt, pictureOf, type View } from "./grid.ts";
import { FleetStore } from "./store.ts";

const now = Date.UTC(2026, 0, 15, 12);
/** The whole world, 600 pixels wide: a cell is a tenth of it. */
const world: View = { left: 0, top: 0, right: 1, bottom: 1, worldPixels: 600 };

function fleet(...longitudes: readonly number[]): FleetStore {
  const store = new FleetStore(now);
  for (const [each, longitude] of longitudes.entries())
    store.move(
      `d${each}`,
      { longitude, latitude: 0, speed: each, course: 0, fixAt: now, ignition: false, critical: false },
      now,
    );
  return store;
}

describe("the picture of the fleet", () => {
  it("has each device by itself where they are few", () => {
    const { singles, bubbles, inView } = pictureOf(fleet(0, 1, 2), world);
    assert.deepEqual([[...singles], bubbles.length, inView], [[0, 1, 2], 0, 3]);
  });

  it("has bubbles where they are many, and one alone in its cell by itself", () => {
    // Cells are 36 degrees wide: 1, 2 and 3 share one that begins at 0; 100 is in another.
    const store = fleet(1, 2, 3, 3, 100);
    const { singles, bubbles } = pictureOf(store, world, undefined, 4);
    assert.deepEqual([...singles], [4]);
    assert.equal(bubbles.length, 1);
    assert.equal(bubbles[0]?.count, 4);
    // Speeds 0, 1, 2 stand, and 3 moves.
    assert.deepEqual(bubbles[0]?.states, [1, 0, 3, 0, 0]);
    // Their mean is near to the edge of the cell, 0.5 to 0.6: the bubble keeps its radius, 18 of 60 pixels, from it.
    assert.equal(bubbles[0]?.x.toFixed(6), "0.530000");
  });

  it("has a bubble where a cell has no room, until a person looks at single vehicles", () => {
    const store = fleet(1, 1, 1, 1, 1, 1, 1, 100);
    const { singles, bubbles } = pictureOf(store, world);
    assert.deepEqual([[...singles], bubbles[0]?.count], [[7], 7]);
    const street = { left: 0.5, top: 0.49, right: 0.51, bottom: 0.51, worldPixels: 512 * 2 ** 17 };
    assert.equal(pictureOf(store, street).singles.length, 7);
  });

  it("leaves out what is not in view, not shown, or has no position", () => {
    const store = fleet(0, 90, 10);
    store.setStatus("silent", true, now, now);
    const half = { ...world, right: 0.6 };
    assert.deepEqual([...pictureOf(store, half, Uint8Array.of(1, 1, 0, 1)).singles], [0]);
  });

  it("finds the device and the bubble under the pointer", () => {
    const store = fleet(0, 36);
    const picture = pictureOf(store, world);
    const at = { x: 0.505, y: 0.5 };
    assert.equal(deviceAt(store, picture, at, { worldPixels: 600, within: 5 }), 0);
    assert.equal(deviceAt(store, picture, at, { worldPixels: 6000, within: 5 }), undefined);
    const crowd = pictureOf(fleet(1, 2), world, undefined, 1);
    assert.equal(bubbleAt(crowd, { x: 0.53, y: 0.53 }, 600)?.count, 2);
    assert.equal(bubbleAt(crowd, at, 600), undefined);
  });
});
