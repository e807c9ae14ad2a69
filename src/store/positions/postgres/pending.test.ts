import assert from "node:assert/strict";
import { test } from "node:test";
import { PendingRows } from "./pending.ts";

/** Rows of a process that follows these shares. `answer`: what the database says, and what happens meanwhile. */
function rowsOf(own: Set<number>, answer: (text: string, values: readonly unknown[]) => readonly object[]) {
  const released: unknown[] = [];
  const deleted: unknown[] = [];
  const rows = new PendingRows(
    { name: "p", follows: (device) => own.has(device) },
    async <R extends object>(text: string, values: readonly unknown[]) => {
      if (text.includes("set holder = null")) released.push(values[1]);
      if (text.startsWith("delete")) deleted.push(values[1]);
      return answer(text, values) as readonly R[];
    },
  );
  return { rows, released, deleted };
}

const row = (bucket: number, commit: number) => ({
  bucket,
  commit,
  devices: `{${bucket}}`,
  first: "{10}",
  last: "{20}",
});

test("a share that is lost while rows of another one are given back has its own given back, too", async () => {
  const own = new Set([1]);
  const { rows, released, deleted } = rowsOf(own, (text) => {
    if (text.includes("set holder = null")) own.delete(1);
    return [];
  });
  const place = await rows.appended(5, [1, 2]);
  assert.deepEqual(released, [[5 * 16 + 2], [5 * 16 + 1]]);
  rows.followed(place);
  await rows.forget();
  assert.deepEqual(deleted, []);
});

test("a row of this process whose append was answered since the question is not taken again", async () => {
  const answered: Promise<number>[] = [];
  const { rows, deleted } = rowsOf(new Set([1]), (text) => {
    if (!text.includes("with found")) return [];
    answered.push(rows.appended(5, [1]));
    return [row(1, 5), row(1, 6)];
  });
  const found = [];
  for await (const some of rows.take("all")) found.push(some);
  assert.deepEqual(found, [{ place: 2, spans: [{ device: 1, from: 10, to: 20 }] }]);
  assert.deepEqual(await Promise.all(answered), [1]);
  rows.followed(2);
  await rows.forget();
  assert.deepEqual(deleted, [[5 * 16 + 1, 6 * 16 + 1]]);
});
