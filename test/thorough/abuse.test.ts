import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Attempt } from "../../bench/abuse/attempt.ts";
import { attempts } from "../../bench/abuse/attempts/index.ts";
import { type Pace, play, type Result } from "../../bench/abuse/play.ts";
import { Stage } from "../../bench/abuse/stage.ts";
import { table } from "../../bench/abuse/table.ts";
import { atEnd } from "../support/at-end.ts";

/** Each attempt in a short form. Times are not judged: `npm run abuse` does, on a machine of its own. */
const pace: Pace = { short: true, beforeMs: 150, mostMs: 400, tailMs: 100, leastMs: 250 };

const results: Result[] = [];
const alike = new Stage();
atEnd(() => alike.close());

/**
 * Those that need settings of their own, or a service that starts again, share a second service, with the settings of
 * all of them.
 */
const special = attempts.filter(({ settings, alone }) => settings !== undefined || alone !== undefined);
let apart: Stage | undefined;
atEnd(() => apart?.close());

async function openApart(): Promise<void> {
  await alike.close();
  const settings = await Promise.all(special.map((attempt) => attempt.settings?.() ?? {}));
  apart = new Stage(Object.assign({}, ...settings));
  await apart.open();
}

test("each attempt has a name of its own", () => {
  assert.equal(new Set(attempts.map(({ name }) => name)).size, attempts.length);
});

function playOn(stage: () => Stage | undefined, played: readonly Attempt[]): void {
  for (const attempt of played)
    test(`${attempt.name}: ${attempt.holds}`, { timeout: 60_000 }, async () => {
      const result = await play(attempt, stage() ?? assert.fail("no service"), pace, () => {});
      results.push(result);
      assert.deepEqual(result.broken, [], result.happened);
    });
}

test("a service starts at its defaults, with another tenant", { timeout: 60_000 }, () => alike.open());
playOn(
  () => alike,
  attempts.filter((attempt) => !special.includes(attempt)),
);
test("a service starts with settings that attempts need", { timeout: 60_000 }, openApart);
// First the one that ends the service, which is quick as long as no mail is under way.
playOn(
  () => apart,
  special.toSorted((one, other) => Number(other.alone ?? false) - Number(one.alone ?? false)),
);

after(() => process.stderr.write(`${table(results, false)}\n`));
