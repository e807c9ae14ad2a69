import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Kysely } from "kysely";
import { silentLog } from "../../../test/support/silent-log.ts";
import { StoreUnavailable } from "../../ports/store.ts";
import type { Schema } from "../schema.ts";
import type { Link, WriterCalls } from "./calls.ts";
import { ChunkIndex } from "./chunk-index.ts";
import { Mutex } from "./mutex.ts";
import { Purger } from "./purger.ts";

const settled = async () => {
  for (let at = 0; at < 1000; at++) await Promise.resolve();
};

/** A purger of removed devices whose writer fails. `warnings`: how often the log was told. */
function failingPurger(devices: number, error: StoreUnavailable) {
  const index = new ChunkIndex();
  const told = { warnings: 0 };
  const purger = new Purger({
    writer: { call: () => Promise.reject(error) } as unknown as Link<WriterCalls>,
    turns: new Mutex(),
    index,
    // Never reached: the rows come first.
    database: {} as Kysely<Schema>,
    locations: { forget: () => {}, settle: async () => {}, blocks: { isWhole: true, whole: async () => {} } },
    log: { ...silentLog, warn: () => void told.warnings++ },
  });
  for (let device = 1; device <= devices; device++) {
    index.add(device, index.next, { first: 1, last: 1, count: 1, bytes: 1 });
    purger.add(device);
  }
  return { purger, index, told };
}

async function passed({ mock }: TestContext, ms: number, step = 1000): Promise<void> {
  for (let left = ms; left > 0; left -= step) {
    mock.timers.tick(step);
    await settled();
  }
}

test("a removed device that can't be deleted is tried again after longer and longer pauses, and by nobody once the store closes", async (context) => {
  for (const trouble of ["down", "damaged"] as const) {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const { purger, told } = failingPurger(1, new StoreUnavailable("no", undefined, trouble));
    await settled();
    assert.equal(told.warnings, 1);
    await passed(context, 7000);
    assert.equal(told.warnings, 4);
    await passed(context, 3_600_000, 60_000);
    assert.ok(told.warnings < 18, `${told.warnings} lines of the log in an hour`);
    await purger.close();
    const before = told.warnings;
    await passed(context, 600_000, 60_000);
    assert.equal(told.warnings, before);
    context.mock.timers.reset();
  }
});

test("while the store can't be written, a thousand removed devices make no more lines of the log than one", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { purger, told } = failingPurger(1000, new StoreUnavailable("the disk is full"));
  await settled();
  await passed(context, 7000);
  assert.equal(told.warnings, 4);
  await purger.close();
});

test("devices that are removed one after the other while the store can't be written make no lines of their own, and no longer pauses", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { purger, index, told } = failingPurger(1, new StoreUnavailable("the disk is full"));
  await settled();
  for (let device = 2; device <= 60; device++) {
    await passed(context, 100, 100);
    index.add(device, index.next, { first: 1, last: 1, count: 1, bytes: 1 });
    purger.add(device);
  }
  await passed(context, 1100, 100);
  assert.equal(told.warnings, 4);
  await purger.close();
});

test("a thousand removed devices that are all damaged are not tried all at once", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { purger, told } = failingPurger(1000, new StoreUnavailable("no", undefined, "damaged"));
  await settled();
  await passed(context, 7000, 50);
  assert.ok(told.warnings > 4 && told.warnings < 100, `${told.warnings} lines of the log in seven seconds`);
  await purger.close();
});
