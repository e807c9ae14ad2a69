import type { Attempt, Outcome, Scene, Tenant } from "./attempt.ts";
import type { Felt, Times } from "./felt.ts";
import { apiPortOf, attackerAddress, type Stage } from "./stage.ts";
import { wait } from "./tally.ts";

/** What an attempt came to. */
export interface Result {
  readonly attempt: Attempt;
  readonly times: number;
  readonly happened: string;
  readonly before: Felt;
  readonly during: Felt;
  /** Largest resident memory of the service, bytes. */
  readonly peak: number;
  /** What must hold and does not; times are judged apart. */
  readonly broken: readonly string[];
}

/**
 * How long it takes: the measure before, the attempt at most once it is prepared, what comes after it, and all but the
 * first together at least.
 */
export interface Pace {
  readonly short: boolean;
  readonly beforeMs: number;
  readonly mostMs: number;
  readonly tailMs: number;
  readonly leastMs: number;
}

/** Memory that the service may take throughout. */
export const mostMemory = 1024 * 1024 * 1024;
/** Times of others below which there is no more of an attempt before, ms. */
const calmMs = 50;
/** Time in which the service must be ready again after an attempt. */
const recoverMs = 20_000;

/** Plays one attempt on an open stage: measures before and during, and looks at what must hold. */
export async function play(attempt: Attempt, stage: Stage, pace: Pace, say: (text: string) => void): Promise<Result> {
  const broken: string[] = [];
  const must = (holds: boolean, what: string) => {
    if (!holds && !broken.includes(what)) broken.push(what);
  };
  const attacker = await stage.tenant(attempt.name, 5000, attackerAddress);
  await calm(stage, pace, say);
  stage.peak();
  const before = await stage.felt(pace.beforeMs);
  const began = performance.now();
  const scene = sceneOf(stage, attacker, pace, { say, must });
  const outcome = await attempt.run(scene).catch((error: unknown): Outcome => {
    must(false, `the attempt failed: ${error instanceof Error ? error.message : String(error)}`);
    return { times: 0, happened: "it failed" };
  });
  // What an attempt leaves behind when its connections end is a part of it.
  await wait(Math.max(pace.tailMs, began + pace.leastMs - performance.now()));
  attacker.client.close();
  const during = await feltDuring(stage, pace);
  await judge(stage, during, must);
  const peak = stage.peak();
  must(peak < mostMemory, `memory of the service stays under ${mostMemory / 1024 / 1024} MiB`);
  return { attempt, ...outcome, before, during, peak, broken };
}

/** What others felt. A short attempt may lie between two answers to them on a busy machine: the next ones count, too. */
async function feltDuring(stage: Stage, { short }: Pace): Promise<Felt> {
  let felt = await stage.felt();
  const until = performance.now() + recoverMs;
  while (short && stage.stands && isMissing(felt) && performance.now() < until) {
    await wait(100);
    const { acknowledgements, answers } = await stage.felt();
    felt = {
      acknowledgements: together(felt.acknowledgements, acknowledgements),
      answers: together(felt.answers, answers),
    };
  }
  return felt;
}

const isMissing = ({ acknowledgements, answers }: Felt) => acknowledgements.count === 0 || answers.count === 0;

function together(one: Times, other: Times): Times {
  return {
    count: one.count + other.count,
    p50: Math.max(one.p50, other.p50),
    p99: Math.max(one.p99, other.p99),
    troubles: [one.troubles, other.troubles].filter((text) => text !== "").join(", "),
  };
}

/** Waits until what was before no longer shows. False: it still does after some time. */
async function calm(stage: Stage, { short }: Pace, say: (text: string) => void): Promise<boolean> {
  if (short) return true;
  const began = performance.now();
  for (;;) {
    const { acknowledgements, answers } = await stage.felt(500);
    const after = performance.now() - began;
    const isCalm = acknowledgements.p99 < calmMs && answers.p99 < calmMs;
    if (!isCalm && after <= recoverMs) continue;
    if (after > 2000) say(`others waited ${(after / 1000).toFixed(1)} s until it was calm`);
    return isCalm;
  }
}

function sceneOf(stage: Stage, attacker: Tenant, pace: Pace, { say, must }: Pick<Scene, "say" | "must">): Scene {
  const { short, mostMs } = pace;
  let began = performance.now();
  return {
    get service() {
      return stage.service;
    },
    get apiPort() {
      return apiPortOf(stage.service);
    },
    get devicePort() {
      return stage.service.devicePort;
    },
    attacker,
    prepared: () => {
      began = performance.now();
    },
    goesOn: () => performance.now() - began < mostMs && stage.stands,
    scale: (full, few) => (short ? few : full),
    devices: (count) => stage.register(attacker, count),
    user: (privileges, group) => stage.user(attacker, privileges, group),
    // A service that has just started compiles its code while the first requests wait: every attempt is compared with
    // one that runs.
    restart: async (between) => {
      await stage.restart(between);
      must(await calm(stage, pace, say), "others are answered as before after the restart");
      began = performance.now();
    },
    say,
    must,
  };
}

/** What must hold of every attempt. */
async function judge(stage: Stage, during: Felt, must: Scene["must"]): Promise<void> {
  must(stage.stands, "the service goes on");
  const { acknowledgements, answers } = during;
  must(acknowledgements.count > 0, "others are acknowledged");
  must(answers.count > 0, "others are answered");
  must(acknowledgements.troubles === "", `trackers of others have no trouble: ${acknowledgements.troubles}`);
  must(answers.troubles === "", `users of others have no trouble: ${answers.troubles}`);
  if (stage.stands) must(await ready(stage), `ready within ${recoverMs / 1000} s after it`);
}

async function ready(stage: Stage): Promise<boolean> {
  for (const until = performance.now() + recoverMs; performance.now() < until; await wait(100)) {
    const answer = await fetch(`${stage.service.url}/health/ready`).catch(() => undefined);
    if (answer?.ok) return true;
  }
  return false;
}
