import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { userOf } from "../../../test/support/users.ts";
import { ApiError } from "../../errors/catalogue.ts";
import type { User } from "../../model/account.ts";
import type { DeviceScope } from "../visibility.ts";
import { type Change, ChangeLog } from "./change-log.ts";
import type { LiveChange, LiveDevice, LiveKind } from "./changes.ts";
import { eventFrame } from "./frame.ts";
import { Listener } from "./listener.ts";
import type { LiveBox } from "./scope.ts";

const all: ReadonlySet<LiveKind> = new Set(["location", "status", "alert", "command"]);
const everything: DeviceScope = { all: true, ids: new Set() };

/** An event as it was told. */
interface Told {
  readonly event: string;
  readonly id: number;
  // biome-ignore lint/suspicious/noExplicitAny: the test's own data
  readonly data: any;
}

/** Devices that move along the equator, on a feed of the test. */
class World {
  readonly changes = new ChangeLog<LiveChange>(300);
  readonly longitudes = new Map<string, number>();
  /** States that must be read first. */
  readonly cold = new Set<string>();
  readonly #devices = new Map<string, LiveDevice>();
  #alerts = 0;

  device(id: string): LiveDevice {
    const index = this.#devices.size;
    const known = this.#devices.get(id) ?? { key: index + 1, id, name: id, odometerStart: 0, index };
    this.#devices.set(id, known);
    return known;
  }

  move(id: string, longitude: number): void {
    this.longitudes.set(id, longitude);
    this.changes.put(`location ${id}`, { kind: "location", device: this.device(id) });
  }

  alert(id: string): number {
    const number = ++this.#alerts;
    const frame = eventFrame("alert", JSON.stringify({ number }), this.cursor(this.changes.newest + 1));
    this.changes.put(`alert ${number}`, { kind: "alert", device: this.device(id), frame }, frame.length);
    return number;
  }

  readonly cursor = (seq: number) => String(seq);
  readonly has = ({ id }: LiveDevice) => this.#devices.has(id);
  readonly framed = ({ seq, value }: Change<LiveChange>) => {
    if ("frame" in value) return value;
    const { id } = value.device;
    const longitude = this.longitudes.get(id) ?? 0;
    const data = JSON.stringify({ id, longitude });
    const made = {
      frame: eventFrame(value.kind, data, String(seq)),
      position: { latitude: 0, longitude },
      status: "{}",
    };
    if (!this.cold.has(id)) return made;
    return Promise.resolve().then(() => {
      this.cold.delete(id);
      return made;
    });
  };
}

/** Somebody who listens to a world, and what it was told. */
class Hearer {
  readonly told: Told[] = [];
  readonly listener: Listener;
  scope: DeviceScope = everything;
  user: User | ApiError = userOf();
  asked = async () => this.scope;
  readonly failures: unknown[] = [];

  constructor(world: World, { box, kinds = all }: { box?: LiveBox | undefined; kinds?: ReadonlySet<LiveKind> } = {}) {
    this.listener = new Listener(
      {
        feed: world,
        wanted: { kinds, devices: undefined, groups: undefined, box },
        authorize: () => this.user,
        scopeOf: () => this.asked(),
        changed: () => {},
        failed: (error) => this.failures.push(error),
      },
      userOf(),
    );
  }

  /** Reads once; `more` as the listener says. */
  async read(most = Number.POSITIVE_INFINITY): Promise<boolean> {
    const { frames, more } = await this.listener.take(most);
    for (const frame of frames) {
      const [, id, event, data] = /^id: (\d+)\nevent: (\w+)\ndata: (.*)\n\n$/.exec(Buffer.from(frame).toString()) ?? [];
      this.told.push({ event: event ?? "", id: Number(id), data: JSON.parse(data ?? "") });
    }
    return more;
  }

  async readAll(): Promise<void> {
    while (await this.read());
  }

  get events(): readonly string[] {
    return this.told.map(({ event, data }) => (event === "location" ? data.id : event));
  }

  /** Where it believes devices, as what it was told says. */
  get map(): ReadonlyMap<string, number> {
    const map = new Map<string, number>();
    for (const { event, data } of this.told) {
      if (event === "reset") map.clear();
      if (event === "location") map.set(data.id, data.longitude);
    }
    return map;
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const ids = ["a", "b", "c", "d"];
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ move: fc.constantFrom(...ids), to: fc.integer({ min: -9, max: 9 }) }) },
  { weight: 2, arbitrary: fc.record({ alert: fc.constantFrom(...ids) }) },
  { weight: 2, arbitrary: fc.record({ read: fc.constantFrom(1, 100, 1e9) }) },
  { weight: 1, arbitrary: fc.record({ cool: fc.constantFrom(...ids) }) },
  // The connection is lost after some of what was sent, and a new one goes on there.
  { weight: 1, arbitrary: fc.record({ lose: fc.nat(3) }) },
);

test("however slowly it reads and wherever it resumes: newest states, and every alert unless it says so", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.boolean(), async (steps, seesAll) => {
      const world = new World();
      const scope = seesAll ? everything : { all: false, ids: new Set(["a", "b"]) };
      const seen = (id: string) => scope.all || scope.ids.has(id);
      let hearer = new Hearer(world);
      hearer.scope = scope;
      await hearer.listener.begin(undefined);
      const alerts: number[] = [];
      for (const next of steps) {
        if ("move" in next) world.move(next.move, next.to);
        if ("cool" in next) world.cold.add(next.cool);
        if ("alert" in next) {
          const number = world.alert(next.alert);
          // Alerts of before the first look at the present are nobody's news.
          if (hearer.events.includes("live") && seen(next.alert)) alerts.push(number);
        }
        if ("read" in next) await hearer.read(next.read);
        if ("lose" in next && hearer.events.includes("live")) {
          const kept = hearer.told.slice(0, Math.max(1, hearer.told.length - next.lose));
          if (!kept.some(({ event }) => event === "live")) continue;
          hearer = new Hearer(world);
          hearer.scope = scope;
          hearer.told.push(...kept);
          const id = kept.at(-1)?.id ?? 0;
          await hearer.listener.begin(id < world.changes.lost ? "missed" : id);
        }
      }
      await hearer.readAll();
      assert.deepEqual(hearer.map, new Map([...world.longitudes].filter(([id]) => seen(id))));
      assert.ok(hearer.events.includes("live"));
      const toldAlerts = hearer.told.filter(({ event }) => event === "alert").map(({ data }) => data.number);
      const missed = hearer.events.includes("reset");
      assert.ok(missed ? world.changes.lost > 0 : alerts.every((number) => toldAlerts.includes(number)));
      assert.equal(await hearer.read(), false);
    }),
  );
});

test("a slow reader is told the newest of each device, once", async () => {
  const world = new World();
  for (const id of ids) world.move(id, 0);
  const hearer = new Hearer(world);
  await hearer.listener.begin(undefined);
  await hearer.readAll();
  assert.deepEqual(hearer.events, ["a", "b", "c", "d", "live"]);
  for (let longitude = 1; longitude <= 100; longitude++) for (const id of ["b", "a"]) world.move(id, longitude);
  await hearer.readAll();
  assert.deepEqual(hearer.events.slice(5), ["b", "a"]);
  assert.equal(hearer.map.get("a"), 100);
});

test("alerts that made room while it was away are missed, and it says so", async () => {
  const world = new World();
  world.move("a", 1);
  const hearer = new Hearer(world);
  await hearer.listener.begin(undefined);
  await hearer.readAll();
  while (world.changes.lost === 0) world.alert("a");
  await hearer.readAll();
  assert.deepEqual(hearer.events, ["a", "live", "reset", "a", "live"]);
  assert.deepEqual(hearer.told[2]?.data, { reason: "missed" });
  world.alert("a");
  await hearer.readAll();
  assert.equal(hearer.events.at(-1), "alert");
});

test("only what it sees, and from the moment of doubt on nothing until it is known what that is", async () => {
  const world = new World();
  for (const id of ids) world.move(id, 0);
  const hearer = new Hearer(world);
  hearer.scope = { all: false, ids: new Set(["a", "b"]) };
  await hearer.listener.begin(undefined);
  await hearer.readAll();
  assert.deepEqual(hearer.events, ["a", "b", "live"]);
  hearer.scope = { all: false, ids: new Set(["b", "c"]) };
  hearer.listener.doubt();
  world.move("a", 1);
  await hearer.readAll();
  assert.equal(hearer.told.length, 3);
  await turn();
  world.move("a", 2);
  await hearer.readAll();
  assert.deepEqual(hearer.events.slice(3), ["reset", "b", "c", "live"]);
  assert.deepEqual(hearer.told[3]?.data, { reason: "visibility" });
  hearer.listener.doubt();
  await turn();
  world.move("b", 5);
  await hearer.readAll();
  assert.deepEqual(hearer.events.slice(7), ["b"]);
});

test("it ends when its user may listen no longer, asked again or in doubt", async () => {
  for (const ask of ["check", "doubt"] as const) {
    const hearer = new Hearer(new World());
    await hearer.listener.begin(undefined);
    hearer.user = new ApiError("userDisabled");
    hearer.listener[ask]();
    await turn();
    const { ended }: { ended: ApiError | undefined } = hearer.listener;
    assert.equal(ended?.code, "userDisabled");
    assert.equal(await hearer.read(), false);
    assert.deepEqual(hearer.told, []);
  }
});

test("of a box: devices in it, one that leaves it once more, and alerts of those that are in it", async () => {
  const world = new World();
  world.move("a", 1);
  world.move("b", 7);
  const hearer = new Hearer(world, { box: { west: 0, south: -1, east: 5, north: 1 } });
  await hearer.listener.begin(undefined);
  await hearer.readAll();
  assert.deepEqual(hearer.events, ["a", "live"]);
  world.move("b", 8);
  world.alert("b");
  world.alert("a");
  await hearer.readAll();
  assert.deepEqual(hearer.events.slice(2), ["alert"]);
  for (const to of [6, 7]) {
    world.move("a", to);
    await hearer.readAll();
  }
  world.move("b", 5);
  await hearer.readAll();
  assert.deepEqual(hearer.events.slice(3), ["a", "b"]);
  const resumed = new Hearer(world, { box: { west: 170, south: -1, east: -170, north: 1 } });
  await resumed.listener.begin(world.changes.newest);
  world.move("a", 60);
  world.move("b", 180);
  await resumed.readAll();
  world.move("a", 61);
  world.move("b", -171);
  await resumed.readAll();
  assert.deepEqual(resumed.events, ["a", "b", "live", "b"]);
});

test("who wants no positions is told how devices are connected, or nothing but alerts", async () => {
  const world = new World();
  for (const id of ids.slice(0, 2)) world.move(id, 0);
  const statuses = new Hearer(world, { kinds: new Set(["status"]) });
  const alerts = new Hearer(world, { kinds: new Set(["alert"]) });
  for (const hearer of [statuses, alerts]) {
    await hearer.listener.begin(undefined);
    await hearer.readAll();
    world.move("a", 1);
    world.alert("a");
    await hearer.readAll();
  }
  assert.deepEqual(statuses.events, ["status", "status", "live"]);
  assert.deepEqual(alerts.events, ["live", "alert"]);
});

test("groups that change all the time are asked for once at a time, and nothing is told meanwhile", async () => {
  const world = new World();
  world.move("a", 1);
  const hearer = new Hearer(world);
  hearer.scope = { all: false, ids: new Set(["a"]) };
  await hearer.listener.begin(undefined);
  await hearer.readAll();
  const answers: ((scope: DeviceScope) => void)[] = [];
  hearer.asked = () => new Promise((resolve) => answers.push(resolve));
  for (let change = 0; change < 10; change++) {
    hearer.listener.groupsChanged();
    hearer.listener.check();
    await Promise.resolve();
  }
  world.move("a", 2);
  await hearer.readAll();
  assert.deepEqual([answers.length, hearer.events], [1, ["a", "live"]]);
  answers[0]?.(hearer.scope);
  await new Promise(setImmediate);
  hearer.listener.check();
  await Promise.resolve();
  assert.equal(answers.length, 2, "what was asked before the last change counts no more");
  answers[1]?.(hearer.scope);
  await new Promise(setImmediate);
  await hearer.readAll();
  assert.deepEqual(hearer.events, ["a", "live", "a"]);
});

test("who sees all of the account is not asked for groups", async () => {
  const world = new World();
  const hearer = new Hearer(world);
  await hearer.listener.begin(undefined);
  hearer.listener.groupsChanged();
  world.move("a", 1);
  await hearer.readAll();
  assert.deepEqual(hearer.events, ["a", "live"]);
});

test("a listener of many devices is told of them and no others", async () => {
  const world = new World();
  const ids = Array.from({ length: 1000 }, (_, index) => `d${index}`);
  for (const id of ids) world.move(id, 1);
  const hearer = new Hearer(world);
  hearer.scope = { all: false, ids: new Set(ids.slice(0, 200)) };
  await hearer.listener.begin(undefined);
  await hearer.readAll();
  assert.deepEqual(hearer.events, [...ids.slice(0, 200), "live"]);
  world.move("d199", 2);
  world.move("d200", 2);
  await hearer.readAll();
  assert.deepEqual(hearer.events.slice(-2), ["live", "d199"]);
});
