import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { endRest, startRest } from "../../test/support/rest.ts";
import type { GroupStore, Store } from "../ports/store.ts";

/** The store, but for how a group is found. */
function withFind(store: Store, find: GroupStore["find"]): Store {
  const { groups } = store;
  const create = groups.create.bind(groups);
  const replace = groups.replace.bind(groups);
  return Object.assign(Object.create(store), {
    groups: Object.assign(Object.create(groups), { find, create, replace }),
  });
}

test("an account's records are read one at a time, others' beside them, and nothing stays behind a call that fails", async (t) => {
  let reading = 0;
  let most = 0;
  const spoil = (store: Store): Store => {
    const find: GroupStore["find"] = async (id) => {
      most = Math.max(most, ++reading);
      await wait(5);
      reading--;
      if (id === "broken") throw new Error("a damaged row");
      return store.groups.find(id);
    };
    return withFind(store, find);
  };
  const rest = await startRest({ spoil });
  t.after(() => endRest(rest));
  const token = await rest.ownerToken();
  const devices = Array.from({ length: 5000 }, (_, index) => `device-${index}`);
  const { id } = (await rest.call("POST", "/api/groups", { token, body: { name: "large", devices } })).json;
  const paths = [id, "nobody's", "broken", id, id, "nobody's", id];
  const asked = await Promise.all(paths.map((path) => rest.call("GET", `/api/groups/${path}`, { token })));
  assert.deepEqual(
    asked.map(({ status }) => status),
    [200, 404, 500, 200, 200, 404, 200],
  );
  assert.equal(most, 1);
  const patch = [{ op: "replace", path: "/name", value: "other" }];
  assert.equal((await rest.call("PATCH", `/api/groups/${id}`, { token, body: patch })).status, 200);
});

test("calls that were given up while they waited are passed over", async (t) => {
  let go: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  let begun = 0;
  const spoil = (store: Store): Store => {
    const find: GroupStore["find"] = async (id) => {
      if (++begun === 1) await held;
      return store.groups.find(id);
    };
    return withFind(store, find);
  };
  const rest = await startRest({ spoil });
  t.after(() => endRest(rest));
  const token = await rest.ownerToken();
  const { port } = await rest.http.start();
  const headers = { authorization: `Bearer ${token}` };
  const stopping = new AbortController();
  const ask = (path: string, signal?: AbortSignal) =>
    fetch(`http://127.0.0.1:${port}/api/groups/${path}`, { headers, ...(signal && { signal }) }).then(
      ({ status }) => status,
      () => 0,
    );
  const first = ask("a");
  while (begun === 0) await wait(5);
  const given = Array.from({ length: 5 }, () => ask("b", stopping.signal));
  await wait(100);
  stopping.abort();
  assert.deepEqual(await Promise.all(given), [0, 0, 0, 0, 0]);
  await wait(50);
  const last = ask("c");
  go();
  assert.deepEqual([await first, await last], [404, 404]);
  assert.equal(begun, 2);
});
