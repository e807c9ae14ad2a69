import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { silentLog } from "../../test/support/silent-log.ts";
import { userOf } from "../../test/support/users.ts";
import type { Listener, Taken } from "../domain/live/listener.ts";
import type { Live } from "../domain/live/live.ts";
import { ApiError } from "../errors/catalogue.ts";
import { createMetrics } from "../observe/index.ts";
import { Streams } from "./streams.ts";

/** An answer whose client reads when the test says so. */
class Answer extends EventEmitter {
  readonly written: string[] = [];
  writableLength = 0;
  destroyed = false;
  headersSent = false;
  ended = false;
  readonly socket = new EventEmitter();

  write(bytes: Uint8Array | string): boolean {
    this.written.push(bytes.toString());
    this.writableLength += bytes.length;
    return this.writableLength <= 1000;
  }

  end(last?: Uint8Array): void {
    if (last !== undefined) this.write(last);
    this.ended = true;
    this.emit("close");
  }

  flushHeaders(): void {}

  read(): void {
    this.writableLength = 0;
    this.emit("drain");
  }
}

/** A listener that gives what the test puts there. */
class Source {
  readonly taken: (Taken | Promise<Taken>)[] = [];
  ended: ApiError | undefined;
  cursor: string | undefined = "place";
  takes = 0;

  take(): Taken | Promise<Taken> {
    this.takes++;
    return this.taken.shift() ?? { frames: [], more: false };
  }
}

function frames(...texts: string[]): Taken {
  return { frames: texts.map((text) => Buffer.from(text)), more: false };
}

function setUp(context: TestContext) {
  context.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  let now = 0;
  const clock = { now: () => now, monotonic: () => now };
  const closed: unknown[] = [];
  const live = {
    onChange: () => {},
    look: () => {},
    told: () => {},
    stop: () => {},
    close: (_: number, one: unknown) => void closed.push(one),
  };
  const metrics = createMetrics({ processMetrics: false });
  const limits = { perUser: 10, perAccount: 10, inAll: 10 };
  const streams = new Streams({ live: live as unknown as Live, clock, log: silentLog, metrics }, limits);
  context.after(() => streams.stop());
  return {
    ...{ streams, closed, changed: () => live.onChange() },
    async pass(ms: number) {
      now += ms;
      context.mock.timers.tick(ms);
      for (let turns = 0; turns < 5; turns++) await turn();
    },
    async open(source = new Source(), answer = new Answer()) {
      const response = answer as unknown as ServerResponse;
      const body = await streams.open(response, userOf(), async () => source as unknown as Listener);
      body.pipe(response);
      await turn();
      return { source, answer };
    },
  };
}

test("what changes meanwhile goes out together, at once after a pause, and then once in a tenth of a second", async (context) => {
  const { open, changed, pass } = setUp(context);
  const { source, answer } = await open();
  for (const text of ["a", "b"]) {
    source.taken.push(frames(text));
    changed();
    await pass(0);
  }
  assert.deepEqual(answer.written, ["a"]);
  source.taken.push(frames("c"));
  await pass(99);
  assert.deepEqual(answer.written, ["a"]);
  await pass(1);
  assert.deepEqual(answer.written, ["a", "b"]);
});

test("who does not read is asked for nothing more, and goes on when it has read", async (context) => {
  const { open, changed, pass } = setUp(context);
  const { source, answer } = await open();
  source.taken.push(frames("x".repeat(65_537)));
  changed();
  await pass(0);
  const { takes } = source;
  for (let rounds = 0; rounds < 10; rounds++) {
    changed();
    await pass(200);
  }
  assert.equal(source.takes, takes);
  source.taken.push(frames("newest"));
  answer.read();
  assert.equal(answer.written.at(-1), "newest");
});

test("what is more than one piece goes out as fast as it is read; what must be read first follows, or is tried again", async (context) => {
  const { open, changed, pass } = setUp(context);
  const { source, answer } = await open();
  source.taken.push(
    { frames: [Buffer.from("1"), Buffer.from("2")], more: true },
    Promise.resolve({ frames: [], more: true }),
    frames("3"),
  );
  changed();
  await pass(0);
  assert.deepEqual(answer.written, ["12", "3"]);
  source.taken.push(Promise.reject(new Error("the store is down")), frames("4"));
  changed();
  await pass(100);
  assert.deepEqual(answer.written, ["12", "3"]);
  await pass(1000);
  assert.deepEqual(answer.written, ["12", "3", "4"]);
});

test("silence is broken every 15 s, by who has read", async (context) => {
  const { open, pass } = setUp(context);
  const [one, other] = [await open(), await open()];
  other.answer.writableLength = 1;
  other.source.cursor = undefined;
  for (let seconds = 0; seconds < 15; seconds++) await pass(1000);
  assert.deepEqual([one.answer.written, other.answer.written], [[": \nid: place\n\n"], []]);
  other.answer.writableLength = 0;
  await pass(1000);
  assert.deepEqual(other.answer.written, [": \n\n"]);
});

test("a listener that may listen no longer is told why, and its stream ends", async (context) => {
  const { open, changed, pass, closed } = setUp(context);
  const { source, answer } = await open();
  source.ended = new ApiError("userDisabled");
  source.taken.push(frames("secret"));
  changed();
  await pass(0);
  assert.deepEqual(answer.written, ['event: end\ndata: {"error":"user disabled"}\n\n']);
  assert.ok(answer.ended);
  assert.deepEqual(closed, [source]);
});

test("a client that is gone before it is told anything leaves nothing open", async (context) => {
  const { open, closed } = setUp(context);
  const answer = new Answer();
  answer.destroyed = true;
  const source = new Source();
  await assert.rejects(open(source, answer), /Bad Request/);
  assert.deepEqual(closed, [source]);
});

test("a connection on which streams begin and end keeps nothing of them", async (context) => {
  const { streams } = setUp(context);
  for (let each = 0; each < 3; each++) {
    const answer = new Answer();
    const refused = streams.open(answer as unknown as ServerResponse, userOf(), async () => {
      throw new ApiError("linkNotValid");
    });
    await assert.rejects(refused, ApiError);
    assert.equal(answer.socket.listenerCount("end"), 1);
    answer.emit("close");
    assert.equal(answer.socket.listenerCount("end"), 0);
  }
});
