// npm run chaos [-- --only NAME --rounds N --seed N --json]: what crashes, full and failing disks, clocks and damage do
// to what trackers were promised. Exit code 1 where something does not hold, 2 where the arguments are wrong.
import { parseArgs } from "node:util";
import { faults } from "./faults/index.ts";
import { type Pace, play, type Result } from "./stage.ts";
import { rows, table } from "./table.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    rounds: { type: "string", default: "10" },
    seed: { type: "string" },
    json: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
  },
});

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1000) fail("--rounds: a whole number from 1 to 1000");
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
if (!Number.isInteger(seed)) fail("--seed: a whole number");
const unknown = (values.only ?? []).filter((name) => !faults.some((fault) => fault.name === name));
if (unknown.length > 0) fail(`no fault ${unknown.join(", ")}; there are: ${faults.map(({ name }) => name).join(", ")}`);
if (values.list) {
  for (const { name, does, holds } of faults)
    process.stdout.write(`${name}: ${does}.${holds === undefined ? "" : ` Must hold: ${holds}.`}\n`);
  process.exit(0);
}

const pace: Pace = { whole: true, rounds, reportMs: 2000 };
const results: Result[] = [];
const chosen = faults.filter(({ name }) => values.only?.includes(name) ?? true);
for (const [index, fault] of chosen.entries()) {
  process.stderr.write(`${index + 1}/${chosen.length} ${fault.name}: ${fault.does} ...\n`);
  const reason = fault.impossible?.();
  if (reason !== undefined) {
    process.stderr.write(`skip  ${fault.name}: ${reason}\n`);
    continue;
  }
  const result = await play(fault, pace, seed + index);
  results.push(result);
  process.stderr.write(`${rows(result)}\n`);
}

const missed = results.filter(({ broken }) => broken.length > 0);
if (values.json)
  for (const { fault, counted, ...result } of results) {
    const { name, does, holds } = fault;
    process.stdout.write(
      `${JSON.stringify({ name, does, holds, ...result, happened: Object.fromEntries(counted) })}\n`,
    );
  }
else process.stdout.write(`${table(results)}\n${results.length - missed.length} of ${results.length} hold\n`);
process.exit(missed.length > 0 ? 1 : 0);
