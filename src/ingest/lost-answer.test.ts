import assert from "node:assert/strict";
import { test } from "node:test";
import { admitted, setUp, submit, type TroubledStore } from "../../test/support/troubled-store.ts";
import { StoreUnavailable } from "../ports/store.ts";

/** The next commit is stored, and its answer never comes. */
function loseNextAnswer(store: TroubledStore): void {
  const commit = store.commit.bind(store);
  store.commit = async (batch, written) => {
    store.commit = commit;
    await commit(batch, written);
    throw new StoreUnavailable("the writer died");
  };
  store.readMoment = async () => ({
    hashes: store.commits.flatMap(({ devices }) => devices.flatMap(({ records }) => records.map(({ hash }) => hash))),
  });
}

test("what a failed commit left where it is read is acknowledged only once the store works: it may be in a file that was moved away", async (context) => {
  const { store, ingest } = setUp();
  context.after(() => ingest.stop());
  const one = await admitted(ingest, "a");
  loseNextAnswer(store);
  store.down = 3;
  const outcomes: string[] = [];
  await submit(ingest, one, 1, outcomes);
  assert.ok(store.down <= 0, `${store.down} checks of the store would still fail`);
  assert.deepEqual(outcomes, ["stored"]);
  assert.deepEqual(store.stored, [[1, 1]]);
});
