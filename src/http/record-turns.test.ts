import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { endRest, startRest } from "../../test/support/rest.ts";
import type { GroupStore } from "../ports/groups.ts";
import type { Store } from "../ports/store.ts";

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
  const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}/api/groups/${path}`, { headers })).status;
  const first = ask("a");
  while (begun === 0) await wait(5);
  const text = `GET /api/groups/b HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const ahead = () => connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const gone = Array.from({ length: 5 }, ahead);
  for (const socket of gone) socket.write(text);
  // One who has only ended its side still wants its answer.
  const halfClosed = ahead().end(text);
  await wait(100);
  for (const socket of gone) socket.resetAndDestroy();
  await wait(50);
  const last = ask("c");
  go();
  assert.match(String(await halfClosed.take(1).toArray()), /^HTTP\/1.1 404 /);
  assert.deepEqual([await first, await last], [404, 404]);
  assert.equal(begun, 3);
});
