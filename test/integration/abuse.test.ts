import assert from "node:assert/strict";
import { after, test } from "node:test";
import { attempts } from "../../bench/abuse/attempts/index.ts";
import { type Pace, play, type Result } from "../../bench/abuse/play.ts";
import { Stage } from "../../bench/abuse/stage.ts";
import { table } from "../../bench/abuse/table.ts";
import { atEnd } from "../support/at-end.ts";

/** Each attempt in a short form. Times are not judged: `npm run abuse` does, on a machine of its own. */
const pace: Pace = { short: true, beforeMs: 150, mostMs: 400, tailMs: 100, leastMs: 250 };

const results: Result[] = [];
const shared = new Stage();
atEnd(() => shared.close());

/** A stage of its own, which is closed whatever happens. */
async function onOwnStage<T>(
  settings: Readonly<Record<string, string>> | undefined,
  use: (stage: Stage) => Promise<T>,
): Promise<T> {
  const stage = new Stage(settings);
  try {
    await stage.open();
    return await use(stage);
  } finally {
    await stage.close();
  }
}

test("each attempt has a name of its own", () => {
  assert.equal(new Set(attempts.map(({ name }) => name)).size, attempts.length);
});

test("the service starts, with another tenant", { timeout: 60_000 }, () => shared.open());

for (const attempt of attempts)
  test(`${attempt.name}: ${attempt.holds}`, { timeout: 60_000 }, async () => {
    const on = (stage: Stage) => play(attempt, stage, pace, () => {});
    const own = attempt.settings !== undefined || attempt.alone !== undefined;
    const result = own ? await onOwnStage(await attempt.settings?.(), on) : await on(shared);
    results.push(result);
    assert.deepEqual(result.broken, [], result.happened);
  });

after(() => process.stderr.write(`${table(results, false)}\n`));
