import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { FakeSource } from "./fake-source.ts";
import { followTogether } from "./tabs.ts";

const page = Object.assign(new EventTarget(), { hidden: false });
const windowEvents = new EventTarget();

/** A tab that keeps what it hears. */
function openTab(name = "ana") {
  const heard: string[] = [];
  const states: boolean[] = [];
  const stop = followTogether<readonly string[]>(
    name,
    {
      told: (_name, data) => heard.push(JSON.parse(data).deviceId),
      state: (isOpen) => states.push(isOpen),
      refused: async () => {},
    },
    { present: () => [...heard], take: (present) => heard.push(...present.map((id) => `taken ${id}`)) },
  );
  return { heard, states, stop };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

describe("tabs of one browser", () => {
  let tabs: ReturnType<typeof openTab>[] = [];
  const open = (name?: string) => {
    const tab = openTab(name);
    tabs.push(tab);
    return tab;
  };

  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
    Object.assign(globalThis, {
      EventSource: FakeSource,
      document: page,
      addEventListener: windowEvents.addEventListener.bind(windowEvents),
      removeEventListener: windowEvents.removeEventListener.bind(windowEvents),
    });
    FakeSource.made = [];
  });
  afterEach(() => {
    for (const { stop } of tabs) stop();
    tabs = [];
    mock.timers.reset();
  });

  function tell(deviceId: string): void {
    FakeSource.made.at(-1)?.tell("location", { deviceId }, `id-${deviceId}`);
  }

  it("have one stream, and hear the same", async () => {
    const first = open();
    await until(() => FakeSource.made.length === 1);
    FakeSource.made[0]?.opened();
    tell("1");
    const second = open();
    await until(() => second.heard.length === 1);
    assert.deepEqual([second.heard, second.states], [["taken 1"], [true]]);
    tell("2");
    await until(() => second.heard.length === 2);
    assert.deepEqual(
      [first.heard, second.heard],
      [
        ["1", "2"],
        ["taken 1", "2"],
      ],
    );
    assert.equal(FakeSource.made.length, 1);
  });

  it("go on behind the last event, when the one that has the stream is closed", async () => {
    const first = open();
    await until(() => FakeSource.made.length === 1);
    FakeSource.made[0]?.opened();
    const second = open();
    await until(() => second.states.length === 1);
    tell("1");
    await until(() => second.heard.length === 1);
    first.stop();
    tabs = [second];
    await until(() => FakeSource.made.length === 2);
    assert.deepEqual(
      FakeSource.made.map(({ url, readyState }) => [url, readyState]),
      [
        ["/api/stream?", 2],
        ["/api/stream?lastEventId=id-1", 0],
      ],
    );
  });

  it("take the stream from one that does not answer", async () => {
    const release = Promise.withResolvers<void>();
    const asleep = navigator.locks.request("waybeam.stream.ana", () => release.promise).catch(() => undefined);
    open();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(FakeSource.made.length, 0);
    mock.timers.tick(3000);
    await until(() => FakeSource.made.length === 1);
    release.resolve();
    await asleep;
  });

  it("of another person have another stream", async () => {
    open();
    open("bo");
    await until(() => FakeSource.made.length === 2);
  });
});
