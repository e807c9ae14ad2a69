import assert from "node:assert/strict";
import { test } from "node:test";
import { userOf } from "../../../test/support/users.ts";
import type { Device } from "../../model/device.ts";
import type { Steps } from "../../model/steps.ts";
import type { HistoryPieces, RecordForm } from "../history.ts";
import { createExports } from "./exports.ts";

test("each piece of a file is made when the account's turn has come, and not before", async () => {
  const location = {
    dateTime: "2026-11-21T10:29:00.000Z",
    latitude: 4,
    longitude: -74,
    attributes: {},
    hasCriticalAlert: false,
  };
  const lists = { alerts: [], alertTexts: [], warnings: [], warningTexts: [] };
  const json = new TextEncoder().encode(new Array(600).fill(JSON.stringify({ ...location, ...lists })).join());
  async function* written(_device: unknown, _range: unknown, form: RecordForm): HistoryPieces {
    yield* form.records(json);
    yield form.end(undefined);
  }
  const turns: number[] = [];
  const inTurn = async <T>(account: number, steps: Steps<T>): Promise<T> => {
    turns.push(account);
    assert.equal(steps.next().done, false, "the first step does nothing");
    const step = steps.next();
    assert.ok(step.done);
    return step.value;
  };
  const exports = createExports({ written: async (...asked) => written(...asked) }, 3600, inTurn);
  const device = { id: "van", name: "Van", accountKey: 7 } as Device;
  const range = { from: "2026-11-21T00:00:00Z", to: "2026-11-22T00:00:00Z" };
  const { rest } = await exports.open(device, exports.ask(userOf(), device, { ...range, format: "csv" }));
  const rows: number[] = [];
  for await (const piece of rest) rows.push(Buffer.from(piece).toString().split("\r\n").length - 1);
  assert.deepEqual(
    [turns, rows],
    [
      [7, 7, 7, 7],
      [256, 256, 88, 0],
    ],
  );
});
