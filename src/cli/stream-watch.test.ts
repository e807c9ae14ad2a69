import assert from "node:assert/strict";
import { test } from "node:test";
import { api } from "../../test/support/command-line.ts";
import { watchStream } from "./stream-watch.ts";

test("it shows how many devices report and where the last one is, until it is over", async (context) => {
  const location = { latitude: 4.711, longitude: -74.0721 };
  const told = [
    ["location", { deviceId: "d1", location: null }],
    ["location", { deviceId: "d1", location: { ...location, speed: 41.6 } }],
    ["live", {}],
    ["location", { deviceId: "d2", location }],
  ] as const;
  const events = told.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join("");
  const { url } = await api(context, () => ({ body: undefined, events }));
  const over = new AbortController();
  const shown: string[] = [];
  const terminal = {
    err(text: string) {
      shown.push(text.trim());
      if (text.includes("d2")) over.abort();
    },
    ...{ errIsTty: true, columns: 200 },
  };
  let now = 0;
  const clock = { now: () => 0, monotonic: () => (now += 1000) };
  await watchStream({ clock, terminal }, { url, userName: "u", apiKey: "k" }, over.signal);
  assert.deepEqual(
    shown.filter((text) => text !== ""),
    ["1 devices, 1 positions; d1 at 4.71100, -74.07210, 42 km/h", "2 devices, 2 positions; d2 at 4.71100, -74.07210"],
  );
});
