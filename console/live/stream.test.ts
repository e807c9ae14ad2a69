import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { FakeSource } from "./fake-source.ts";
import { follow, type StreamHearer } from "./stream.ts";

const windowEvents = new EventTarget();

describe("following the stream", () => {
  const heard: string[] = [];
  const states: boolean[] = [];
  const hearer: StreamHearer = {
    told: (name, data) => heard.push(name === "live" ? name : JSON.parse(data).deviceId),
    state: (isOpen) => states.push(isOpen),
    refused: async () => {},
  };
  let end: () => void;

  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
    Object.assign(globalThis, {
      EventSource: FakeSource,
      addEventListener: windowEvents.addEventListener.bind(windowEvents),
      removeEventListener: windowEvents.removeEventListener.bind(windowEvents),
    });
    FakeSource.made = [];
    heard.length = 0;
    states.length = 0;
    end = follow({ lastEventId: "" }, hearer);
  });
  afterEach(() => {
    end();
    mock.timers.reset();
  });

  function last(): FakeSource {
    const source = FakeSource.made.at(-1);
    assert.ok(source);
    return source;
  }

  it("tells what comes", () => {
    last().opened();
    last().tell("location", { deviceId: "1", location: null }, "a-1");
    last().tell("live", {}, "a-1");
    assert.deepEqual([heard, states], [["1", "live"], [true]]);
    assert.equal(last().url, "/api/stream?");
  });

  it("goes on behind the last event after a loss, and waits longer after each failure", async () => {
    last().opened();
    last().tell("location", { deviceId: "1", location: null }, "a-1");
    const made = FakeSource.made.length;
    await last().onerror?.();
    mock.timers.tick(1000);
    assert.equal(FakeSource.made.length, made + 1);
    assert.equal(last().url, "/api/stream?lastEventId=a-1");
    await last().onerror?.();
    mock.timers.tick(999);
    assert.equal(FakeSource.made.length, made + 1);
    mock.timers.tick(1001);
    assert.equal(FakeSource.made.length, made + 2);
    assert.deepEqual(states, [true, false, false]);
  });

  it("knows that the network is gone before the connection does", () => {
    last().opened();
    windowEvents.dispatchEvent(new Event("offline"));
    assert.deepEqual(states, [true, false]);
    windowEvents.dispatchEvent(new Event("online"));
    assert.equal(FakeSource.made.length, 2);
  });
});
