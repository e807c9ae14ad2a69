import type { Times } from "./felt.ts";
import type { Result } from "./play.ts";

/** How much slower the 99th percentile of others may be, of that before the attempt. */
const limits = { acknowledgements: 10, answers: 5 } as const;

/** How many times slower others were at the 99th percentile. */
export function slower(result: Result, kind: keyof typeof limits): number {
  return result.during[kind].p99 / Math.max(result.before[kind].p99, Number.MIN_VALUE);
}

/** Limits of times that an attempt does not keep. */
export function tooSlow(result: Result): readonly string[] {
  return (["acknowledgements", "answers"] as const)
    .filter((kind) => slower(result, kind) >= limits[kind])
    .map(
      (kind) => `${kind} of others at p99 under ${limits[kind]} times those before: ${slower(result, kind).toFixed(1)}`,
    );
}

const ms = (value: number) => (value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(1));
const pair = (before: Times, during: Times) =>
  `${ms(before.p50)}/${ms(before.p99)} → ${ms(during.p50)}/${ms(during.p99)} ms`;

/**
 * One attempt: what was tried and happened, what others felt (p50/p99 before → during), memory, and what does not hold.
 * `times`: whether times are judged.
 */
export function rows(result: Result, times: boolean): string {
  const { attempt, before, during } = result;
  const broken = [...result.broken, ...(times ? tooSlow(result) : [])];
  const felt = (["acknowledgements", "answers"] as const)
    .map((kind) => {
      const ratio = `${slower(result, kind).toFixed(1)} of ${limits[kind]}`;
      return `${kind} ${pair(before[kind], during[kind])} (${ratio})`;
    })
    .join("; ");
  return [
    `${broken.length === 0 ? "ok  " : "MISS"}  ${attempt.name}: ${attempt.tries} (${result.times.toLocaleString("en")} times)`,
    `        happened: ${result.happened}`,
    `        others:   ${felt}; memory ${Math.round(result.peak / 1024 / 1024)} of 1,024 MiB`,
    ...broken.map((what) => `        does not hold: ${what}`),
  ].join("\n");
}

/** The whole in one line for each attempt. */
export function table(results: readonly Result[], times: boolean): string {
  const head = ["", "attempt", "times", "acks p99", "ratio", "API p99", "ratio", "MiB", "happened"];
  const lines = results.map((result) => {
    const { before, during } = result;
    const holds = result.broken.length === 0 && (!times || tooSlow(result).length === 0);
    return [
      holds ? "ok" : "MISS",
      result.attempt.name,
      result.times.toLocaleString("en"),
      `${ms(before.acknowledgements.p99)} → ${ms(during.acknowledgements.p99)}`,
      `${slower(result, "acknowledgements").toFixed(1)} < ${limits.acknowledgements}`,
      `${ms(before.answers.p99)} → ${ms(during.answers.p99)}`,
      `${slower(result, "answers").toFixed(1)} < ${limits.answers}`,
      Math.round(result.peak / 1024 / 1024).toLocaleString("en"),
      result.happened,
    ];
  });
  const widths = head.map((title, column) => Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)));
  return [head, ...lines]
    .map((line) =>
      line.map((cell, column) => (column === head.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join("  "),
    )
    .join("\n");
}
