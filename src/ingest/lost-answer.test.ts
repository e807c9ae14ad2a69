import assert from "node:assert/strict";
import { test } from "node:test";
import { newAlert, newNotice } from "../../test/contract/store/alert-values.ts";
import { noAlertEngine } from "../../test/support/no-alert-engine.ts";
import { admitted, setUp, submit, type TroubledStore } from "../../test/support/troubled-store.ts";
import type { AlertEngine, Watch } from "../ports/alert-engine.ts";
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

test("timers are set and notices are sent after a commit whose answer was lost, though nothing of it is left to be stored", async (context) => {
  const watch: Watch = {
    full: false,
    mostBesideLate: 1000,
    observe: () => undefined,
    late: () => {},
    tick: () => undefined,
    outcome: () => ({ rules: undefined, alerts: [], notices: [newNotice(newAlert(1, 1))] }),
  };
  const set: number[] = [];
  const engine: AlertEngine = {
    ...noAlertEngine,
    watch: () => watch,
    committed: (_device, { version }) => void set.push(version),
  };
  const { store, bus, ingest } = setUp(engine);
  context.after(() => ingest.stop());
  let queued = 0;
  bus.subscribe(({ type }) => {
    if (type === "noticesQueued") queued++;
  });
  const one = await admitted(ingest, "a");
  loseNextAnswer(store);
  await submit(ingest, one, 1, []);
  assert.deepEqual(store.stored, [[1, 1]]);
  assert.deepEqual(set, [1]);
  assert.equal(queued, 1);
});
