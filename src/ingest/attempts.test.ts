import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../test/support/silent-log.ts";
import { StoreUnavailable } from "../ports/store.ts";
import { Attempts, GivenUp } from "./attempts.ts";

const down = () => new StoreUnavailable("a locked file");
const damaged = () => new StoreUnavailable("a damaged page", undefined, "damaged");

/** Work that fails like this, try by try, and a store that can't be used for some of its checks. */
function world(failures: readonly Error[], checks = 0) {
  const said = { tries: 0, down: 0 };
  let left = checks;
  const check = async () => {
    if (left-- > 0) throw down();
  };
  const work = async () => {
    const failure = failures[said.tries++];
    if (failure !== undefined) throw failure;
  };
  const attempts = new Attempts({
    ...{ store: { check }, log: silentLog, metrics: { unavailable: { add: () => undefined } } },
    onDown: () => said.down++,
  });
  return { attempts, work, said };
}

test("a failure of a moment is tried once more, by many together too", async () => {
  for (const last of [false, true]) {
    const { attempts, work, said } = world([down()]);
    assert.equal(await attempts.run(work, last), undefined);
    assert.deepEqual(said, { tries: 2, down: 0 });
  }
});

test("where the store works, the work is at fault", async () => {
  const failures = [down(), down(), down()];
  assert.equal((await world(failures).attempts.run(world(failures).work, false))?.error, failures[1]);
});

test("what may concern one device alone is divided at once, and tried again when it can't be", async () => {
  for (const [last, tries] of [
    [false, 1],
    [true, 2],
  ] as const) {
    const { attempts, work, said } = world([damaged(), damaged()]);
    assert.ok((await attempts.run(work, last)) !== undefined);
    assert.equal(said.tries, tries);
  }
});

test("a defect is not tried again", async () => {
  const { attempts, work, said } = world([new Error("a defect")]);
  assert.ok((await attempts.run(work, true)) !== undefined);
  assert.equal(said.tries, 1);
});

test("while the store is down the work waits, however long, and nothing is read", async () => {
  const { attempts, work, said } = world([down(), down()], 3);
  assert.equal(await attempts.run(work, false), undefined);
  assert.deepEqual(said, { tries: 3, down: 3 });
});

test("a stop does not wait for a store that is down", async () => {
  const { attempts, work } = world([down(), down()], 1000);
  const running = attempts.run(work, false);
  attempts.stop();
  await assert.rejects(running, GivenUp);
});
