import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { silentLog } from "../../../test/support/silent-log.ts";
import { StoreUnavailable } from "../../ports/store.ts";
import { Background } from "./background.ts";
import type { Link, PackerCalls, SealAnswer, SealRequest, SwapRequest, WaitingLeft, WriterCalls } from "./calls.ts";
import { ChunkIndex } from "./chunk-index.ts";
import { Mutex } from "./mutex.ts";
import { Sealer } from "./sealer.ts";

function add(index: ChunkIndex, device: number, seq: number, sealed = false, bytes = 100): void {
  const count = sealed ? 1024 : 1;
  index.add(device, seq, { first: seq, last: seq, count, bytes: bytes * count, sealed });
}

/** A packer that makes one block of all that it is given. */
const packer = {
  async call(_name: string, { seqs }: SealRequest): Promise<SealAnswer> {
    const block = { first: Math.min(...seqs), last: Math.max(...seqs), count: seqs.length, bytes: 100 * seqs.length };
    const blocks = [{ ...block, data: new Uint8Array(0) }];
    return { taken: seqs.length, seqs, blocks, lifts: new Float64Array(0), damaged: [] };
  },
} as unknown as Link<PackerCalls>;

test("the row of a commit that was never answered keeps its number: sealing first looks for such rows", async () => {
  const index = new ChunkIndex();
  for (let seq = 1; seq <= 256; seq++) add(index, 1, seq);
  const unanswered = index.next;
  const written = Promise.withResolvers<number>();
  const writer = {
    call: async (_name: string, { seq }: SwapRequest): Promise<boolean> => {
      written.resolve(seq);
      return true;
    },
  };
  const sealer = new Sealer({
    writer: writer as unknown as Link<WriterCalls>,
    packer,
    turns: new Mutex(),
    index,
    // Looks for rows from the next number on, as the store does.
    writeState: async () => {},
    blocks: { isWhole: true, whole: async () => {} },
    settle: async () => {
      if (index.get(2) === undefined && index.next <= unanswered)
        index.add(2, unanswered, { first: 1, last: 1, count: 1, bytes: 100 });
    },
    doubt: () => assert.fail("the writer answers"),
    log: silentLog,
    isBusy: () => false,
  });
  sealer.look(1);
  const seq = await written.promise;
  await sealer.close();
  assert.deepEqual(index.get(2)?.overlapping(0, 10), [unanswered]);
  assert.ok(seq > unanswered);
});

const none = { count: 0, since: Number.POSITIVE_INFINITY };
const nothingLeft: WaitingLeft = { shifts: none, patches: none };

/** A sealer whose workers answer at once. */
function sealerOf(index: ChunkIndex, seal: Link<PackerCalls> = packer, isBusy = false): Sealer {
  return new Sealer({
    writer: {
      call: async (name: string) => (name === "forget" ? nothingLeft : true),
    } as unknown as Link<WriterCalls>,
    packer: seal,
    turns: new Mutex(),
    index,
    settle: async () => {},
    writeState: async () => {},
    blocks: { isWhole: true, whole: async () => {} },
    doubt: () => assert.fail("the writer answers"),
    log: silentLog,
    isBusy: () => isBusy,
  });
}

/** Background work does not pause. */
function withoutPauses({ mock }: TestContext): void {
  mock.method(Background.prototype, "pause", () => Promise.resolve());
}

test("devices take turns: one with a long tail is not sealed wholly before the next one", async (context) => {
  withoutPauses(context);
  const index = new ChunkIndex();
  for (let at = 0; at < 5 * 256; at++) add(index, 1, index.next);
  for (const device of [2, 3]) for (let at = 0; at < 300; at++) add(index, device, index.next);
  const order: number[] = [];
  const noting = notingPacker(({ device }) => order.push(device));
  const sealer = sealerOf(index, noting);
  const sealed = [1, 2, 3].map((device) => sealer.now(device));
  // What comes while a device waits for its next turn is sealed too, after what was there before.
  await sealed[1];
  add(index, 1, index.next);
  await Promise.all([...sealed, sealer.now(1)]);
  assert.deepEqual(order, [1, 2, 3, 1, 2, 3, 1, 1, 1, 1]);
  assert.equal(index.tail.chunks, 0);
  assert.ok([1, 2, 3].every((device) => index.get(device)?.sealing === false));
  await sealer.close();
});

test("the more devices there are, the fewer chunks each gathers before it is sealed, but never fewer than 32", async (context) => {
  withoutPauses(context);
  for (const [devices, enough] of [
    [10, 256],
    [10_000, 256],
    [20_000, 128],
    [200_000, 32],
  ] as const) {
    const index = new ChunkIndex();
    for (let device = 1; device < devices; device++) add(index, device, index.next);
    const sealer = sealerOf(index);
    const inTail = async () => {
      sealer.look(devices);
      // Device 1 has its turn after that device.
      await sealer.now(1);
      return index.get(devices)?.tail.chunks;
    };
    for (let chunks = 1; chunks < enough; chunks++) add(index, devices, index.next);
    assert.equal(await inTail(), enough - 1, `${devices} devices`);
    add(index, devices, index.next);
    assert.equal(await inTail(), 0, `${devices} devices`);
    await sealer.close();
  }
});

/** What there is beside a device that is sealed. */
interface Beside {
  /** How many chunks another device has, their bytes, and whether these are blocks. */
  readonly others?: number;
  readonly bytes?: number;
  readonly sealed?: boolean;
  readonly isBusy?: boolean;
  /** Somebody waits for the device. */
  readonly asked?: boolean;
}

/** The pause after a device's first slice, ms. */
async function pauseBeside(context: TestContext, beside: Beside): Promise<number> {
  const { others = 0, bytes = 100, sealed = false, isBusy = false, asked = false } = beside;
  const index = new ChunkIndex();
  for (let seq = 1; seq <= others; seq++) add(index, 2, seq, sealed, bytes);
  // Two slices.
  for (let at = 1; at <= 512; at++) add(index, 1, others + at);
  const paused = Promise.withResolvers<number>();
  const { mock } = context.mock.method(globalThis, "setTimeout", (_done: () => void, ms: number) => paused.resolve(ms));
  const sealer = sealerOf(index, packer, isBusy);
  if (asked) void sealer.now(1);
  else sealer.look(1);
  const ms = await paused.promise;
  mock.restore();
  await sealer.close();
  return ms;
}

test("few chunks of many bytes that wait to be sealed shorten the pauses, too", async (context) => {
  const usual = await pauseBeside(context, {});
  const bytes = 1024 * 1024;
  assert.ok((await pauseBeside(context, { others: 1100, bytes })) < usual);
  assert.ok((await pauseBeside(context, { others: 1100, bytes, isBusy: true })) < usual);
});

test("many chunks that wait to be sealed shorten the pauses; many blocks, which gather over the years, do not", async (context) => {
  const usual = await pauseBeside(context, {});
  assert.ok((await pauseBeside(context, { others: 1_100_000 })) < usual);
  assert.equal(await pauseBeside(context, { others: 1_100_000, sealed: true }), usual);
});

test("a busy service is sealed in longer pauses, unless many chunks wait or somebody asks for it", async (context) => {
  const isBusy = true;
  const usual = await pauseBeside(context, {});
  assert.ok((await pauseBeside(context, { isBusy })) > usual);
  assert.ok((await pauseBeside(context, { isBusy, others: 1_100_000 })) < usual);
  assert.equal(await pauseBeside(context, { isBusy, asked: true }), usual);
});

test("reports that come while their device is packed wait for more, and are not packed at once by themselves", async (context) => {
  withoutPauses(context);
  const index = new ChunkIndex();
  for (let at = 0; at < 3 * 256; at++) add(index, 1, index.next);
  let packed = 0;
  const reporting = notingPacker(() => {
    packed++;
    add(index, 1, index.next);
    sealer.look(1);
  });
  const sealer: Sealer = sealerOf(index, reporting);
  sealer.look(1);
  // Device 2 has each turn after device 1.
  for (let turns = 0; turns < 5; turns++) await sealer.now(2);
  assert.equal(packed, 3);
  assert.equal(index.tail.chunks, 3);
  assert.equal(index.get(1)?.sealing, false);
  await sealer.close();
});

/** A packer that first tells `note` what it is given. */
function notingPacker(note: (request: SealRequest) => void): Link<PackerCalls> {
  return {
    call(name: string, request: SealRequest) {
      note(request);
      return Reflect.apply(packer.call, packer, [name, request]);
    },
  } as unknown as Link<PackerCalls>;
}

/** A sealer whose packer fails. `tried` is called at each try. */
function failingSealer(index: ChunkIndex, tried: () => void): Sealer {
  const failing = {
    async call() {
      tried();
      throw new StoreUnavailable("no");
    },
  } as unknown as Link<PackerCalls>;
  return sealerOf(index, failing);
}

test("a call of a closed sealer returns", async () => {
  const index = new ChunkIndex();
  add(index, 1, index.next);
  const sealer = sealerOf(index);
  await sealer.close();
  await sealer.now(1);
});

test("a device that can't be sealed is tried again by one timer, however much it reports meanwhile, and by none once the store closes", async (context) => {
  withoutPauses(context);
  const { mock } = context;
  mock.timers.enable({ apis: ["setTimeout"] });
  const index = new ChunkIndex();
  for (let at = 0; at < 256; at++) add(index, 1, index.next);
  let tries = 0;
  const sealer: Sealer = failingSealer(index, () => {
    tries++;
    // As if the device committed while it is packed.
    sealer.look(1);
  });
  const settled = async () => {
    for (let at = 0; at < 100; at++) await Promise.resolve();
  };
  sealer.look(1);
  await settled();
  assert.equal(tries, 1);
  mock.timers.tick(1000);
  await settled();
  assert.equal(tries, 2);
  // `now` does not wait for the timer. Its failure starts the timer anew.
  await sealer.now(1);
  assert.equal(tries, 3);
  mock.timers.tick(3999);
  await settled();
  assert.equal(tries, 3);
  mock.timers.tick(1);
  await settled();
  assert.equal(tries, 4);
  assert.equal(index.get(1)?.sealing, false);
  await sealer.close();
  mock.timers.tick(600_000);
  await settled();
  assert.equal(sealer.waiting, 0);
});

test("devices that can't be sealed because they are damaged make no other device wait for a second, and the log ten lines a second at most", async (context) => {
  const index = new ChunkIndex();
  for (let device = 1; device <= 10; device++) for (let at = 0; at < 256; at++) add(index, device, index.next);
  const pauses: number[] = [];
  context.mock.method(Background.prototype, "pause", (ms: number) => {
    pauses.push(ms);
    return Promise.resolve();
  });
  const damaged = {
    call(name: string, request: SealRequest) {
      if (request.device < 10) return Promise.reject(new StoreUnavailable("no", undefined, "damaged"));
      return Reflect.apply(packer.call, packer, [name, request]);
    },
  } as unknown as Link<PackerCalls>;
  const sealer = sealerOf(index, damaged);
  for (let device = 1; device < 10; device++) sealer.look(device);
  await sealer.now(10);
  assert.equal(index.get(10)?.tail.chunks, 0);
  assert.ok(pauses.length >= 9);
  assert.ok(Math.max(...pauses) < 1000, String(pauses));
  // Each failure is a line of the log.
  assert.ok(Math.min(...pauses.slice(0, 9)) >= 100, String(pauses));
  await sealer.close();
});

/** The first turns of three hundred devices, of which the last one has this waiting. */
async function turnsWith(waiting: Partial<WaitingLeft>): Promise<readonly number[]> {
  const index = new ChunkIndex();
  for (let device = 1; device <= 300; device++) for (let at = 0; at < 256; at++) add(index, device, index.next);
  const order: number[] = [];
  const sealer = sealerOf(
    index,
    notingPacker(({ device }) => order.push(device)),
    true,
  );
  for (let device = 1; device <= 300; device++) sealer.look(device);
  // Three slices, while the others wait already.
  for (let at = 0; at < 512; at++) add(index, 300, index.next);
  Object.assign(index.get(300) ?? assert.fail(), waiting);
  sealer.look(300);
  await sealer.now(5);
  await sealer.close();
  return order;
}

test("a device whose many shifts or patches slow down reading is sealed before hundreds of others, and takes every other turn at most", async (context) => {
  withoutPauses(context);
  const first = [1, 300, 2, 300, 3, 300, 4, 5];
  assert.deepEqual((await turnsWith({ shifts: { count: 2000, since: 0 } })).slice(0, 8), first);
  assert.deepEqual((await turnsWith({ patches: { count: 5000, since: 0 } })).slice(0, 8), first);
  assert.deepEqual((await turnsWith({ shifts: { count: 500, since: 0 } })).slice(0, 5), [1, 2, 3, 4, 5]);
});
