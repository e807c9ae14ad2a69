import { setTimeout } from "node:timers/promises";
import type { Listed } from "../domain/listed.ts";
import { createLocks } from "../domain/locks.ts";
import type { Clock } from "../ports/clock.ts";

/** Longest pause after a piece, ms. */
const longestPauseMs = 50;
/** Pieces whose text is made faster than this take no pause, ms. */
const briefMs = 1;

/** Reads a piece of a list and makes its text, when the account's turn has come. */
export type ListTurns = <T, K>(
  account: number,
  read: () => Promise<Listed<T, K>>,
  textOf: (items: readonly T[]) => string,
) => Promise<{ readonly text: string; readonly next: K | undefined }>;

/**
 * Reads the pieces of an account's lists one at a time, with a pause after each as long as reading it out of its stored
 * form and making its text took. Forty lists of large groups held the event loop for 600 ms at a stretch, and how large
 * they are is known only when they were read.
 */
export function listTurns({ monotonic }: Pick<Clock, "monotonic">): ListTurns {
  const alone = createLocks<number>();
  return (account, read, textOf) =>
    new Promise((resolve, reject) => {
      void alone(account, async () => {
        try {
          const { items, next } = await read();
          const began = monotonic();
          resolve({ text: textOf(items), next });
          // The store's rows were read out of their stored form in about the same time.
          const pauseMs = 2 * (monotonic() - began);
          if (pauseMs > briefMs) await setTimeout(Math.min(longestPauseMs, pauseMs));
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
    });
}
