import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { ReachChange } from "../ports/bus.ts";
import { type Reachable, Registry } from "./registry.ts";

const device = { id: "d", key: 1 };

function peer(transport: "tcp" | "udp", heardAt = 0): Reachable {
  return {
    ...{ protocol: { id: "gt06" }, transport, address: "192.0.2.1", since: 0, heardAt },
    speaksFor: () => true,
    expects: () => "nothing",
    encode: () => "noForm",
    write: () => {},
    deviceChanged: () => {},
    displaced: () => {},
  };
}

const way = ({ protocol, transport, address }: Reachable, at: number) =>
  ({ protocol: protocol.id, transport, address, at }) as const;

/** Processes that tell each other in the order of each, whenever a test lets them. */
class World {
  readonly told: ReachChange[][] = [];
  /** What each has not heard of each other yet. */
  readonly waiting: { readonly from: number; readonly to: number; readonly change: ReachChange }[] = [];
  readonly registries: Registry[];
  now = 1000;

  constructor(processes: number) {
    this.registries = Array.from({ length: processes }, (_, from) => {
      const tell = (changes: readonly ReachChange[]) => {
        for (const change of changes)
          for (let to = 0; to < processes; to++) if (to !== from) this.waiting.push({ from, to, change });
      };
      return new Registry({ now: () => this.now, fraction: from / 10, tell });
    });
    for (const registry of this.registries) registry.came(["p0", "p1", "p2"]);
  }

  of(index: number): Registry {
    const registry = this.registries[index];
    assert.ok(registry);
    return registry;
  }

  logIn(index: number, by: Reachable): void {
    this.of(index).seen(device, way(by, this.now));
    this.of(index).set(device.id, by);
  }

  /** Lets one of those who wait hear what it was told first by another. */
  hear(at: number): void {
    const next = this.waiting[at % Math.max(1, this.waiting.length)];
    if (next === undefined) return;
    const first = this.waiting.findIndex(({ from, to }) => from === next.from && to === next.to);
    const [heard] = this.waiting.splice(first, 1);
    if (heard !== undefined) this.of(heard.to).told(`p${heard.from}`, heard.change, 0);
  }

  settle(): void {
    while (this.waiting.length > 0) this.hear(0);
  }

  get connected(): readonly (boolean | undefined)[] {
    return this.registries.map((registry) => registry.contact(device, 0, this.now)?.connected);
  }
}

describe("a device that several processes know", () => {
  it("is reached by the one that it came to last, whatever each hears first", () => {
    const act = fc.record({
      process: fc.nat({ max: 2 }),
      act: fc.constantFrom("logIn", "hear", "hear", "leave"),
      which: fc.nat(),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
        const world = new World(3);
        const peers = [peer("tcp"), peer("tcp"), peer("tcp")];
        for (const { process, which, ...one } of acts) {
          world.now++;
          const by = peers[process];
          assert.ok(by);
          if (one.act === "logIn") world.logIn(process, by);
          else if (one.act === "leave") world.of(process).remove(device.id, by, 0);
          else world.hear(which);
        }
        world.settle();
        const holders = world.registries.filter((registry) => registry.find(device.id) !== undefined);
        assert.ok(holders.length <= 1, "one reaches it");
        for (const registry of world.registries) {
          const here = registry.find(device.id) !== undefined;
          assert.equal(registry.elsewhere(device.id) !== undefined, !here && holders.length === 1);
        }
      }),
    );
  });

  it("is connected without a break while it moves", () => {
    const world = new World(3);
    const changes: string[] = [];
    for (const [index, registry] of world.registries.entries()) registry.onChange(() => changes.push(`p${index}`));
    world.logIn(0, peer("udp"));
    world.settle();
    assert.deepEqual(
      [changes.splice(0), world.connected],
      [
        ["p0", "p1", "p2"],
        [true, true, true],
      ],
    );
    for (let turn = 1; turn < 5; turn++) {
      world.logIn(turn % 2, peer("udp"));
      assert.deepEqual(world.connected, [true, true, true]);
      world.settle();
      assert.deepEqual(world.connected, [true, true, true]);
    }
    assert.deepEqual(changes, []);
    // Its last process is missed.
    world.of(1).missed(["p0"], 5);
    world.of(2).missed(["p0"], 5);
    // What it told last is heard too late.
    world.of(1).told("p0", { ...device, ...way(peer("udp"), 1), mark: 1e9 }, 6);
    assert.deepEqual([world.connected, changes, world.of(1).leftAt("d")], [[true, false, false], ["p1", "p2"], 5]);
  });

  it("was heard of as late as before where its login is told once more", () => {
    const world = new World(2);
    world.logIn(0, peer("tcp"));
    world.settle();
    world.of(1).heard("d", 90);
    const contact = () => world.of(1).contact(device, 100, 101_000)?.at;
    assert.equal(contact(), 91_000);
    for (const change of world.of(0).forThoseWhoCame()) world.of(1).told("p0", change, 100);
    assert.equal(contact(), 91_000);
  });

  it("is let go of where its sender was silent for as long as it speaks to another process", () => {
    const world = new World(2);
    world.logIn(0, peer("udp", 10));
    world.settle();
    world.of(0).release("d", 5, 14);
    assert.notEqual(world.of(0).find("d"), undefined);
    world.of(0).release("d", 5, 15);
    world.settle();
    assert.deepEqual([world.of(0).find("d"), world.of(1).elsewhere("d")], [undefined, undefined]);
  });

  it("is announced to who comes later, and how else devices came is told when they come again", () => {
    const world = new World(2);
    const by = peer("tcp");
    world.logIn(0, by);
    world.of(0).seen({ id: "phone", key: 2 }, { ...way(by, 1), transport: "http" });
    world.of(0).tellSeen("phone");
    world.waiting.length = 0;
    const announced = [...world.of(0).forThoseWhoCame()];
    assert.deepEqual(
      announced.map(({ id }) => id),
      ["d"],
    );
    world.of(0).tellSeen("phone");
    world.of(0).tellSeen("phone");
    assert.deepEqual(
      world.waiting.map(({ change }) => change.id),
      ["phone"],
    );
  });
});
