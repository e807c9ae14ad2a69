import assert from "node:assert/strict";
import { test } from "node:test";
import { EventReader } from "./events.ts";

test("events are read from whatever pieces they come in; comments are none", () => {
  const text = 'id: a-1\nevent: location\ndata: {"key":"k","name":"a: b"}\n\n: \nid: a-2\n\nevent: live\ndata: {}\n\n';
  for (const size of [1, 7, text.length]) {
    const reader = new EventReader();
    const events = [];
    for (let at = 0; at < text.length; at += size) events.push(...reader.take(text.slice(at, at + size)));
    assert.deepEqual(events, [
      { id: "a-1", event: "location", data: '{"key":"k","name":"a: b"}' },
      { id: undefined, event: "live", data: "{}" },
    ]);
  }
});
