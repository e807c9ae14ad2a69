import assert from "node:assert/strict";
import { test } from "node:test";
import type { Kysely } from "kysely";
import { silentLog } from "../../../test/support/silent-log.ts";
import { StoreUnavailable } from "../../ports/store.ts";
import type { Schema } from "../schema.ts";
import { ChunkIndex } from "./chunk-index.ts";
import type { WriterCalls } from "./messages.ts";
import { Mutex } from "./mutex.ts";
import { Purger } from "./purger.ts";
import type { WorkerLink } from "./worker-link.ts";

test("a removed device that can't be deleted is tried again after longer and longer pauses, and by nobody once the store closes", async (context) => {
  const { mock } = context;
  mock.timers.enable({ apis: ["setTimeout"] });
  const settled = async () => {
    for (let at = 0; at < 100; at++) await Promise.resolve();
  };
  const index = new ChunkIndex();
  index.add(1, index.next, { first: 1, last: 1, count: 1, bytes: 1 });
  let warnings = 0;
  const failing = { call: () => Promise.reject(new StoreUnavailable("no")) } as unknown as WorkerLink<WriterCalls>;
  const purger = new Purger({
    writer: failing,
    turns: new Mutex(),
    index,
    // Never reached: the rows come first.
    database: {} as Kysely<Schema>,
    settle: async () => {},
    log: { ...silentLog, warn: () => void warnings++ },
  });
  purger.add(1);
  await settled();
  assert.equal(warnings, 1);
  const passed = async (ms: number) => {
    for (let left = ms; left > 0; left -= 1000) {
      mock.timers.tick(1000);
      await settled();
    }
  };
  await passed(7000);
  assert.equal(warnings, 4);
  await passed(3_600_000);
  assert.ok(warnings < 18, `${warnings} lines of the log in an hour`);
  await purger.close();
  const before = warnings;
  await passed(600_000);
  assert.equal(warnings, before);
});
