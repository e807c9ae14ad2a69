import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";

/** A part that can say whether it works: resolves if so. `signal` fires when nobody waits any longer. */
export type HealthCheck = (signal: AbortSignal) => Promise<void>;

/** Answer of /health/ready: every check and note by name. What is wrong in detail is in the log, not here. */
export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, string>>;
}

/** What is told beside the checks though the service can do its work: a word, `ok` where all is well. */
export type HealthNote = () => string;

/** Whether the process lives (it answers at all), and whether it can do its work now. */
export interface Health {
  ready(): Promise<Readiness>;
  /** From now on it is not ready: it stops, and no more work is to be sent to it. */
  stopping(): void;
}

/** A check that takes longer than this counts as failed: those who ask (load balancers) usually wait a few seconds. */
const defaultTimeoutMs = 2000;
/**
 * Anybody may ask, and a check may write to the disk: those who ask at the same time or soon after each other share one
 * answer.
 */
const keptMs = 1000;

/** Readiness as the conjunction of named checks, which run at the same time; notes change nothing of it. */
export function createHealth(
  checks: Readonly<Record<string, HealthCheck>>,
  clock: Clock,
  log: Log,
  {
    timeoutMs = defaultTimeoutMs,
    notes = {},
  }: { readonly timeoutMs?: number; readonly notes?: Readonly<Record<string, HealthNote>> } = {},
): Health {
  let stopping = false;
  let latest: Promise<readonly (readonly [string, Result])[]> | undefined;
  let askedAt = 0;

  function results(): Promise<readonly (readonly [string, Result])[]> {
    if (latest !== undefined && clock.monotonic() - askedAt < keptMs) return latest;
    askedAt = clock.monotonic();
    latest = Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await run(name, check, log, timeoutMs)] as const),
    );
    return latest;
  }

  return {
    async ready() {
      const checked = await results();
      const failed = checked.some(([, result]) => result !== "ok");
      const noted = Object.entries(notes).map(([name, note]) => [name, note()] as const);
      const all = [...checked, ...noted];
      return {
        ready: !failed && !stopping,
        checks: Object.fromEntries(stopping ? [...all, ["stopping", "failed"]] : all),
      };
    },
    stopping: () => {
      stopping = true;
    },
  };
}

type Result = "ok" | "failed" | "timeout";

async function run(name: string, check: HealthCheck, log: Log, timeoutMs: number): Promise<Result> {
  const signal = AbortSignal.timeout(timeoutMs);
  const expired = new Promise<"timeout">((resolve) => signal.addEventListener("abort", () => resolve("timeout")));
  const checked = (async () => {
    try {
      await check(signal);
      return "ok";
    } catch (error) {
      if (!signal.aborted) log.warn({ check: name, error }, "not ready");
      return "failed";
    }
  })();
  return Promise.race([checked, expired]);
}
