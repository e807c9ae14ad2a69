// npm run abuse [-- --only NAME --seconds N --json]: what attackers, defects and accidents do to a service, and what
// another tenant feels of it. Exit code 1 where something does not hold, 2 where the arguments are wrong.
import { parseArgs } from "node:util";
import type { Attempt } from "./attempt.ts";
import { attempts } from "./attempts/index.ts";
import { type Pace, play, type Result } from "./play.ts";
import { Stage } from "./stage.ts";
import { rows, slower, table, tooSlow } from "./table.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    seconds: { type: "string", default: "8" },
    json: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
  },
});

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

const seconds = Number(values.seconds);
if (!(seconds >= 1 && seconds <= 600)) fail("--seconds: a number from 1 to 600");
const unknown = (values.only ?? []).filter((name) => !attempts.some((attempt) => attempt.name === name));
if (unknown.length > 0)
  fail(`no attempt ${unknown.join(", ")}; there are: ${attempts.map(({ name }) => name).join(", ")}`);
if (values.list) {
  for (const { name, tries, holds } of attempts) process.stdout.write(`${name}: ${tries}. Must hold: ${holds}.\n`);
  process.exit(0);
}

const pace: Pace = { short: false, beforeMs: 3000, mostMs: seconds * 1000, tailMs: 1000, leastMs: 4000 };
const results: Result[] = [];
let shared: Stage | undefined;

/**
 * The stage of an attempt: its own where it needs one, else the shared one, which is made anew where an attempt ended
 * it.
 */
async function stageFor({ settings, alone }: Attempt): Promise<Stage> {
  if (settings === undefined && alone === undefined && shared?.stands) return shared;
  const stage = new Stage(await settings?.());
  await stage.open();
  if (settings !== undefined || alone !== undefined) return stage;
  await shared?.close();
  shared = stage;
  return stage;
}

const chosen = attempts.filter(({ name }) => values.only?.includes(name) ?? true);
for (const [index, attempt] of chosen.entries()) {
  say(`${index + 1}/${chosen.length} ${attempt.name}: ${attempt.tries} ...`);
  const stage = await stageFor(attempt);
  const result = await play(attempt, stage, pace, (text) => say(`      ${text}`));
  if (stage !== shared) await stage.close();
  results.push(result);
  say(rows(result, true));
}
await shared?.close();

const missed = results.filter((result) => result.broken.length > 0 || tooSlow(result).length > 0);
if (values.json)
  for (const { attempt, ...result } of results) {
    const ratios = {
      acknowledgements: slower({ attempt, ...result }, "acknowledgements"),
      answers: slower({ attempt, ...result }, "answers"),
    };
    const { name, tries, holds } = attempt;
    process.stdout.write(
      `${JSON.stringify({ name, tries, holds, ...result, ratios, tooSlow: tooSlow({ attempt, ...result }) })}\n`,
    );
  }
else process.stdout.write(`${table(results, true)}\n${results.length - missed.length} of ${results.length} hold\n`);
process.exit(missed.length > 0 ? 1 : 0);
