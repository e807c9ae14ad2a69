import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { follow, type Hearers } from "./stream.ts";

/** A source that a test opens, ends, and lets tell. */
class FakeSource extends EventTarget {
  static readonly OPEN = 1;
  static made: FakeSource[] = [];
  readonly url: string;
  readyState = 0;
  onopen: (() => void) | null = null;
  onerror: (() => Promise<void>) | null = null;

  constructor(url: string) {
    super();
    this.url = url;
    FakeSource.made.push(this);
  }
  close(): void {
    this.readyState = 2;
  }
  opened(): void {
    this.readyState = 1;
    this.onopen?.();
  }
  tell(name: string, data: unknown, lastEventId: string): void {
    this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data), lastEventId }));
  }
}

const page = Object.assign(new EventTarget(), { hidden: false });
const windowEvents = new EventTarget();

describe("following the stream", () => {
  const heard: string[] = [];
  const states: boolean[] = [];
  const hearers: Hearers = {
    location: ({ deviceId }) => heard.push(deviceId),
    status: () => {},
    alert: () => {},
    command: () => {},
    gone: () => {},
    live: () => heard.push("live"),
    reset: () => {},
    state: (isOpen) => states.push(isOpen),
    refused: async () => {},
  };
  let end: () => void;

  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
    Object.assign(globalThis, {
      EventSource: FakeSource,
      document: page,
      addEventListener: windowEvents.addEventListener.bind(windowEvents),
      removeEventListener: windowEvents.removeEventListener.bind(windowEvents),
    });
    FakeSource.made = [];
    heard.length = 0;
    states.length = 0;
    end = follow({ kind: "location" }, hearers);
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
    assert.equal(last().url, "/api/stream?kind=location");
  });

  it("goes on behind the last event after a loss, and waits longer after each failure", async () => {
    last().opened();
    last().tell("location", { deviceId: "1", location: null }, "a-1");
    const made = FakeSource.made.length;
    await last().onerror?.();
    mock.timers.tick(1000);
    assert.equal(FakeSource.made.length, made + 1);
    assert.equal(last().url, "/api/stream?kind=location&lastEventId=a-1");
    await last().onerror?.();
    mock.timers.tick(999);
    assert.equal(FakeSource.made.length, made + 1);
    mock.timers.tick(1001);
    assert.equal(FakeSource.made.length, made + 2);
    assert.deepEqual(states, [true, false, false]);
  });

  it("gives the connection back when nobody looks, and comes back", () => {
    last().opened();
    page.hidden = true;
    page.dispatchEvent(new Event("visibilitychange"));
    mock.timers.tick(60_000);
    assert.equal(last().readyState, 2);
    const made = FakeSource.made.length;
    page.hidden = false;
    page.dispatchEvent(new Event("visibilitychange"));
    assert.equal(FakeSource.made.length, made + 1);
  });

  it("knows that the network is gone before the connection does", () => {
    last().opened();
    windowEvents.dispatchEvent(new Event("offline"));
    assert.deepEqual(states, [true, false]);
    windowEvents.dispatchEvent(new Event("online"));
    assert.equal(FakeSource.made.length, 2);
  });
});
