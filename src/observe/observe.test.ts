import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Clock } from "../ports/clock.ts";
import type { Knock } from "../ports/quarantine.ts";
import { createHealth } from "./health.ts";
import { systemIds } from "./ids.ts";
import { createLog } from "./log.ts";
import { createMetrics } from "./metrics.ts";
import { createQuarantine } from "./quarantine.ts";
import { createTrace } from "./trace.ts";

/** A clock that the test moves. */
class HandClock implements Clock {
  time = 1_000_000;
  now(): number {
    return this.time;
  }
  monotonic(): number {
    return this.time;
  }
}

function lines(isTTY: boolean): { readonly written: string[]; readonly isTTY: boolean; write(line: string): void } {
  const written: string[] = [];
  return { written, isTTY, write: (line) => void written.push(line) };
}

test("log lines are JSON with time, level, message, fields and those of the child", () => {
  const output = lines(false);
  createLog("info", output).child({ connection: "c1" }).info({ port: 8888 }, "listening");
  const line: unknown = JSON.parse(output.written.join(""));
  assert.partialDeepStrictEqual(line, { level: "info", message: "listening", connection: "c1", port: 8888 });
});

test("a level below the asked one is not written", () => {
  const output = lines(false);
  createLog("warn", output).info({}, "nothing");
  assert.deepEqual(output.written, []);
});

test("a line that can't be written is counted, and the log goes on with the next one", () => {
  const written: string[] = [];
  let full = true;
  let lost = 0;
  const write = (line: string, done: (error?: Error) => void) => {
    if (full) return done(new Error("ENOSPC"));
    written.push(line);
    done();
  };
  const log = createLog("info", { write }, () => lost++);
  log.info({}, "one");
  log.info({}, "two");
  full = false;
  log.info({}, "three");
  assert.equal(lost, 2);
  assert.match(written.join(""), /^\{[^\n]*"message":"three"\}\n$/);
});

test("secrets are redacted wherever they stand in the first levels", () => {
  const output = lines(false);
  const log = createLog("info", output);
  log.info({ apiKey: "s3cret", user: { password: "s3cret", deep: { token: "s3cret" } } }, "a");
  log.info({ headers: { authorization: "Bearer s3cret" } }, "b");
  assert.doesNotMatch(output.written.join(""), /s3cret/);
});

test("at a terminal a line is short and shows an error's stack", () => {
  const output = lines(true);
  createLog("info", output).warn({ port: 1, error: new Error("boom") }, "failed");
  assert.match(output.written.join(""), /^\d\d:\d\d:\d\d warn {2}failed {2}port=1\n {2}Error: boom\n/);
});

test("secrets differ and are URL-safe; UUIDs are of version 7", () => {
  assert.notEqual(systemIds.secret(16), systemIds.secret(16));
  assert.match(systemIds.secret(32), /^[\w-]{43}$/);
  assert.match(systemIds.uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/);
});

test("metrics are given as Prometheus text", async () => {
  const metrics = createMetrics({ processMetrics: false });
  const frames = metrics.counter("waybeam_frames_total", "Frames.", ["protocol"]);
  const gt06 = frames({ protocol: "gt06" });
  gt06.add(2);
  frames({ protocol: "gt06" }).add(1);
  frames({ protocol: 'a"b' }).add(1);
  const sizes = metrics.histogram("waybeam_batch_size", "Sizes.", [], [10, 1]);
  for (const value of [1, 2, 50]) sizes({}).observe(value);
  metrics.gauge("waybeam_queue", "Queue.", () => 7);
  metrics.total("waybeam_read_total", "Read.", () => 8);
  const text = await metrics.text();
  assert.match(text, /# TYPE waybeam_frames_total counter\nwaybeam_frames_total\{protocol="gt06"\} 3\n/);
  assert.match(text, /waybeam_frames_total\{protocol="a\\"b"\} 1\n/);
  assert.match(
    text,
    /_bucket\{le="1"\} 1\nwaybeam_batch_size_bucket\{le="10"\} 2\nwaybeam_batch_size_bucket\{le="\+Inf"\} 3\n/,
  );
  assert.match(text, /waybeam_batch_size_sum 53\nwaybeam_batch_size_count 3\n/);
  assert.match(text, /waybeam_queue 7\n/);
  assert.match(text, /# TYPE waybeam_read_total counter\nwaybeam_read_total 8\n/);
});

test("process metrics include the event loop's lag and open file descriptors", async () => {
  const text = await createMetrics({ processMetrics: true }).text();
  assert.match(text, /\nnodejs_eventloop_lag_seconds /);
  assert.match(text, /\nprocess_resident_memory_bytes /);
});

test("a metric is registered once, and named by the conventions", () => {
  const metrics = createMetrics({ processMetrics: false });
  metrics.gauge("waybeam_a", "A.", () => 0);
  assert.throws(() => metrics.gauge("waybeam_a", "A.", () => 0), /already/);
  assert.throws(() => metrics.counter("waybeam_b", "B.", []), /_total/);
  assert.throws(() => metrics.total("waybeam_b", "B.", () => 0), /_total/);
  assert.throws(() => metrics.gauge("other", "O.", () => 0), /conventions/);
});

const knock = (id: string, address: string, protocol = "gt06"): Knock => ({
  cause: "unknown",
  ids: [id],
  protocol,
  transport: "tcp",
  address,
});

test("the quarantine counts attempts, lists the last seen first and forgets the oldest", () => {
  const clock = new HandClock();
  const quarantine = createQuarantine(clock, 2);
  quarantine.add(knock("a", "192.0.2.1"));
  clock.time += 1000;
  quarantine.add(knock("b", "192.0.2.1"));
  quarantine.add(knock("a", "192.0.2.2"));
  assert.deepEqual(
    quarantine
      .unknown()
      .map(({ ids, attempts, address, lastSeen, firstSeen }) => [ids[0], attempts, address, lastSeen - firstSeen]),
    [
      ["a", 2, "192.0.2.2", 1000],
      ["b", 1, "192.0.2.1", 0],
    ],
  );
  quarantine.add(knock("c", "192.0.2.3", "h02"));
  assert.deepEqual(
    quarantine.unknown().map(({ ids }) => ids[0]),
    ["c", "a"],
  );
});

test("a thousand invented ids from one address, or one /64, leave the others' knocks where they are", () => {
  const quarantine = createQuarantine(new HandClock());
  for (let index = 0; index < 40; index++) quarantine.add(knock(`fleet${index}`, "198.51.100.7"));
  quarantine.add(knock("alone", "2001:db8:1:1::1"));
  for (let index = 0; index < 3000; index++) {
    quarantine.add(knock(`invented${index}`, "192.0.2.1"));
    quarantine.add(knock(`made-up${index}`, `2001:db8:2:2::${index.toString(16)}`));
  }
  // Repeating a knock of somebody else draws it into nobody's share.
  quarantine.add(knock("alone", "192.0.2.1"));
  for (let index = 0; index < 2000; index++) quarantine.add(knock(`more${index}`, "192.0.2.1"));
  const kept = quarantine.unknown().map(({ ids }) => ids[0]);
  assert.equal(kept.length, 1000);
  assert.equal(kept.filter((id) => id?.startsWith("fleet")).length, 40);
  assert.ok(kept.includes("alone"));
});

test("twenty addresses with fifty invented ids each leave the tracker of another address where it is", () => {
  const quarantine = createQuarantine(new HandClock());
  quarantine.add(knock("waits", "198.51.100.7"));
  for (let index = 0; index < 50; index++)
    for (let host = 1; host <= 20; host++) quarantine.add(knock(`invented${host}-${index}`, `192.0.2.${host}`));
  assert.equal(quarantine.unknown().length, 1000);
  assert.ok(quarantine.unknown().some(({ ids }) => ids[0] === "waits"));
});

test("forged datagrams are one share: they leave trackers of connections where they are, and those of datagrams that came again", () => {
  const clock = new HandClock();
  const quarantine = createQuarantine(clock);
  const datagram = (id: string, address: string) => quarantine.add({ ...knock(id, address, "h02"), transport: "udp" });
  quarantine.add(knock("connected", "198.51.100.7"));
  datagram("waits", "198.51.100.8");
  clock.time += 30_000;
  datagram("waits", "198.51.100.9");
  datagram("new", "198.51.100.10");
  for (let index = 0; index < 2000; index++) {
    clock.time += 1;
    for (let times = 0; times < 2; times++) datagram(`forged${index}`, `203.0.${index >> 8}.${index & 255}`);
  }
  const kept = quarantine.unknown().map(({ ids }) => ids[0]);
  assert.equal(kept.length, 1000);
  assert.deepEqual([kept.includes("connected"), kept.includes("waits"), kept.includes("new")], [true, true, false]);
});

test("knocks at devices: each account's in its share, for its own eyes, and none in another's", () => {
  const quarantine = createQuarantine(new HandClock());
  const at = (id: string, accountKey: number, cause: Knock["cause"] = "expired"): Knock => ({
    ...knock(id, "192.0.2.1"),
    cause,
    device: { id, accountKey },
  });
  quarantine.add(at("mine", 1, "secret"));
  quarantine.add(at("mine", 1, "network"));
  quarantine.add(at("mine", 1, "network"));
  for (let index = 0; index < 3000; index++) quarantine.add(at(`yours${index}`, 2));
  assert.deepEqual(
    quarantine.ofDevice("mine").map(({ cause, attempts }) => [cause, attempts]),
    [
      ["network", 2],
      ["secret", 1],
    ],
  );
  assert.deepEqual(quarantine.unknown(), []);
  quarantine.removed("mine");
  assert.deepEqual(quarantine.ofDevice("mine"), []);
});

test("what is remembered of an identifier is forgotten once it is somebody's device", () => {
  const quarantine = createQuarantine(new HandClock());
  quarantine.add({ ...knock("a", "192.0.2.1"), ids: ["a", "serial"] });
  quarantine.add(knock("b", "192.0.2.1"));
  quarantine.registered(["x", "serial"]);
  assert.deepEqual(
    quarantine.unknown().map(({ ids }) => ids[0]),
    ["b"],
  );
});

test("of lists of long identifiers a bounded part is kept", () => {
  const quarantine = createQuarantine(new HandClock());
  const ids = Array.from({ length: 100 }, (_, index) => `${index}`.repeat(5000));
  quarantine.add({ ...knock("", "192.0.2.1"), ids });
  const [kept] = quarantine.unknown();
  assert.ok((kept?.ids.length ?? 0) <= 4 && kept?.ids.every((id) => id.length <= 64));
});

const of = (id: string, accountKey = 1) => ({ id, accountKey });
const entry = { time: 0, connection: "c1", protocol: "p", address: "a", cut: false, effects: [], outcome: "stored" };

test("a trace holds what followed devices sent, in bounds, and ends by itself", () => {
  const clock = new HandClock();
  const trace = createTrace(clock, { devices: 2, entries: 3, characters: 50, keepMs: 1000 });
  assert.equal(trace.active, false);
  trace.add("a", { ...entry, message: "00" });
  assert.deepEqual(trace.follow(of("a"), 0), []);
  assert.equal(trace.active && trace.wants("a") && !trace.wants("b"), true);
  for (const message of ["01", "02", "03", "04"]) trace.add("a", { ...entry, message });
  const held = trace.follow(of("a"), 0);
  assert.deepEqual(
    held.map(({ message }) => message),
    ["02", "03", "04"],
  );
  assert.deepEqual(
    trace.follow(of("a"), held[1]?.seq ?? 0).map(({ message }) => message),
    ["04"],
  );
  trace.add("a", { ...entry, message: "f".repeat(48) });
  assert.equal(trace.follow(of("a"), 0).length, 1);
  trace.follow(of("b"), 0);
  trace.follow(of("c"), 0);
  assert.deepEqual([trace.wants("a"), trace.wants("b"), trace.wants("c")], [false, true, true]);
  clock.time += 1001;
  assert.equal(trace.wants("b"), false);
  assert.equal(trace.active, false);
});

test("an account that follows more devices than there are places ends its own traces and no other account's", () => {
  const trace = createTrace(new HandClock());
  trace.follow(of("other", 2), 0);
  for (let index = 0; index < 40; index++) trace.follow(of(`own${index}`), 0);
  assert.equal(trace.wants("other"), true);
  assert.deepEqual([trace.wants("own24"), trace.wants("own25"), trace.wants("own39")], [false, true, true]);
});

test("a trace never holds more than its bounds", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat(60)), { maxLength: 50 }), (sent) => {
      const trace = createTrace(new HandClock(), { devices: 2, entries: 5, characters: 100, keepMs: 1000 });
      for (const [device, length] of sent) {
        const held = trace.follow(of(device), 0);
        assert.ok(held.length <= 5);
        assert.ok(held.reduce((sum, { message }) => sum + message.length, 0) <= 100);
        trace.add(device, { ...entry, message: "0".repeat(length) });
      }
    }),
  );
});

test("readiness names each check; a failing or hanging one is not ready, and stopping is not", async () => {
  const log = createLog("silent", lines(false));
  const clock = new HandClock();
  const good = createHealth({ store: async () => {} }, clock, log);
  assert.deepEqual(await good.ready(), { ready: true, checks: { store: "ok" } });
  const noting = createHealth({ store: async () => {} }, clock, log, { notes: { clock: () => "slow" } });
  assert.deepEqual(await noting.ready(), { ready: true, checks: { store: "ok", clock: "slow" } });
  good.stopping();
  assert.equal((await good.ready()).ready, false);
  const keepAlive = setTimeout(() => {}, 10_000);
  const bad = createHealth(
    {
      store: () => Promise.reject(new Error("disk full")),
      disk: () => new Promise(() => {}),
      bus: async () => {},
    },
    clock,
    log,
    { timeoutMs: 20 },
  );
  assert.deepEqual(await bad.ready(), { ready: false, checks: { store: "failed", disk: "timeout", bus: "ok" } });
  clearTimeout(keepAlive);
});

test("those who ask for readiness in the same second share one check", async () => {
  const clock = new HandClock();
  let checks = 0;
  const health = createHealth({ store: async () => void checks++ }, clock, createLog("silent", lines(false)));
  await Promise.all([health.ready(), health.ready()]);
  await health.ready();
  assert.equal(checks, 1);
  clock.time += 1000;
  await health.ready();
  assert.equal(checks, 2);
});
