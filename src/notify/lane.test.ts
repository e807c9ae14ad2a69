import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { silentLog } from "../../test/support/silent-log.ts";
import type { Notice } from "../model/notice.ts";
import type { DueAsk } from "../ports/alert-store.ts";
import { Lane } from "./lane.ts";

function mail(key: number): Notice {
  return {
    key,
    id: `n${key}`,
    alertId: "a",
    device: 1,
    target: { channel: "email", to: "ana@example.org", language: null, timeZone: null, units: "metric" },
    state: "queued",
    reason: null,
    creation: 0,
    dueAt: 0,
    attempts: 0,
    finishedAt: null,
    peerId: null,
    countedDay: null,
  };
}

test("a mail server that hangs has a page of mails wait in memory, however many are due and however often the lane is woken", async () => {
  const all = Array.from({ length: 5000 }, (_, index) => mail(index + 1));
  const read = new Set<number>();
  const due = async (_channel: string, _now: number, { limit, after, besides }: DueAsk) => {
    const left = all.filter(({ key }) => key > (after?.key ?? 0) && besides?.has(key) !== true);
    const notices = left.slice(0, limit);
    for (const { key } of notices) read.add(key);
    const last = notices.at(-1);
    return { notices, last: last && { dueAt: last.dueAt, key: last.key }, more: left.length > limit };
  };
  const clock = { now: () => 1, monotonic: () => performance.now() };
  const sent = new Set<number>();
  let hangs = true;
  const waiting: (() => void)[] = [];
  const work = async ({ key }: Notice) => {
    if (hangs) await new Promise<void>((resolve) => waiting.push(resolve));
    all.splice(
      all.findIndex((each) => each.key === key),
      1,
    );
    sent.add(key);
    return { works: true };
  };
  const options = { parallel: 5, perTarget: 5, perFailing: 5 };
  const lane = new Lane("email", options, { notices: { due, postpone: async () => {} }, clock, log: silentLog, work });
  for (let wake = 0; wake < 50; wake++) {
    lane.wake();
    await turn();
  }
  assert.ok(read.size <= 400, `${read.size} were read`);
  hangs = false;
  for (const go of waiting) go();
  while (sent.size < 5000) await turn();
  await lane.stop();
});

test("what comes to lie before a backlog is sent before its end", async () => {
  const all = Array.from({ length: 4000 }, (_, index) => mail(1000 + index));
  const due = async (_channel: string, _now: number, { limit, after, besides }: DueAsk) => {
    const left = all.filter(({ key }) => key > (after?.key ?? 0) && besides?.has(key) !== true);
    const notices = left.slice(0, limit);
    const last = notices.at(-1);
    return { notices, last: last && { dueAt: last.dueAt, key: last.key }, more: left.length > limit };
  };
  const sent: number[] = [];
  // Each takes a second.
  const clock = { now: () => 1, monotonic: () => sent.length * 1000 };
  const ended = Promise.withResolvers<void>();
  const work = async ({ key }: Notice) => {
    await turn();
    all.splice(
      all.findIndex((each) => each.key === key),
      1,
    );
    sent.push(key);
    if (sent.length === 300) all.unshift(mail(1));
    if (sent.length === 2000) ended.resolve();
    return { works: true };
  };
  const options = { parallel: 5, perTarget: 5, perFailing: 5 };
  const lane = new Lane("email", options, { notices: { due, postpone: async () => {} }, clock, log: silentLog, work });
  lane.wake();
  await ended.promise;
  await lane.stop();
  assert.ok(sent.includes(1), "it still waits");
});

test("many targets that take very long leave half of the lane to those that do not", async () => {
  const slow = Array.from({ length: 3000 }, (_, index) => ({ ...mail(1 + index), device: index % 100 }));
  const quick = Array.from({ length: 20 }, (_, index) => ({ ...mail(5000 + index), device: 500 }));
  const due = async (_channel: string, _now: number, { limit, after, besides }: DueAsk) => {
    const left = [...slow, ...quick].filter(({ key }) => key > (after?.key ?? 0) && besides?.has(key) !== true);
    const notices = left.slice(0, limit);
    const last = notices.at(-1);
    return { notices, last: last && { dueAt: last.dueAt, key: last.key }, more: left.length > limit };
  };
  let monotonic = 0;
  let sent = 0;
  const waiting: (() => void)[] = [];
  const work = async ({ device }: Notice) => {
    if (device === 500) sent++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return { works: true };
  };
  const options = {
    parallel: 8,
    perTarget: 4,
    perFailing: 1,
    targetOf: ({ device }: Notice) => String(device),
    slowMs: 5000,
  };
  const clock = { now: () => 1, monotonic: () => monotonic };
  const lane = new Lane("webhook", options, {
    notices: { due, postpone: async () => {} },
    clock,
    log: silentLog,
    work,
  });
  lane.wake();
  for (let round = 0; round < 40; round++) {
    for (let pass = 0; pass < 20; pass++) await turn();
    monotonic += 9000;
    for (const go of waiting.splice(0)) go();
  }
  assert.equal(sent, 20);
  const stopped = lane.stop();
  for (let pass = 0; pass < 20; pass++) {
    await turn();
    for (const go of waiting.splice(0)) go();
  }
  await stopped;
});
