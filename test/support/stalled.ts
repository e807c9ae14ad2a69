import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import type { Running } from "./settings.ts";

/** Reports of the last hour, a few at once, each of them answered. */
export function reportsOf(service: Running, count: number): { done: Promise<unknown>; answered: () => number } {
  const start = Date.now() - 3_600_000;
  let [next, answered] = [0, 0];
  const send = async () => {
    while (next < count) {
      assert.equal(await service.report("d", start + next++ * 1000), 200);
      answered++;
    }
  };
  return { done: Promise.all(Array.from({ length: 20 }, send)), answered: () => answered };
}

/** Waits until no more of the reports are answered. */
export async function stalled(reports: { answered: () => number }): Promise<void> {
  let before = -1;
  while (before !== reports.answered()) {
    before = reports.answered();
    await setTimeout(1000);
  }
}

/**
 * Another process holds the file of everything but positions, so that nothing can be followed. Gives what ends that.
 */
export function locked(directory: string): () => void {
  const other = new DatabaseSync(join(directory, "waybeam.db"), { timeout: 10_000 });
  other.exec("BEGIN IMMEDIATE");
  return () => {
    other.exec("ROLLBACK");
    other.close();
  };
}
