// npm run fuzz [-- --protocol ID] [--count N] [--seconds N] [--seed N]: plays changed messages and says which of them a
// decoder does not endure; exit code 1 where there is one.
import { parseArgs } from "node:util";
import { protocolById, protocols } from "../../src/protocols/index.ts";
import { Random } from "./mutate.ts";
import { type Input, play, Target } from "./target.ts";

/** An input may take so long. One that took longer is tried again, since the machine may have been busy. */
const mostMs = 50;
const tries = 3;
/** Findings of one protocol after which the next is fuzzed. */
const mostFindings = 10;

const { values } = parseArgs({
  options: {
    protocol: { type: "string" },
    count: { type: "string" },
    seconds: { type: "string" },
    seed: { type: "string", default: "1" },
  },
});
const chosen =
  values.protocol === undefined ? protocols : [protocolById(values.protocol)].filter((each) => each !== undefined);
if (chosen.length === 0) {
  process.stderr.write(`no protocol ${values.protocol}; there are: ${protocols.map(({ id }) => id).join(", ")}\n`);
  process.exit(2);
}
const seconds = values.seconds === undefined ? undefined : Number(values.seconds);
const count =
  values.count === undefined ? (seconds === undefined ? 100_000 : Number.POSITIVE_INFINITY) : Number(values.count);

function timed(run: () => void): number {
  const begin = performance.now();
  run();
  return performance.now() - begin;
}

/** What is wrong with an input; undefined: nothing. */
function problemOf(target: Target, input: Input): string | undefined {
  try {
    let least = Number.POSITIVE_INFINITY;
    for (let left = tries; left > 0 && least > mostMs; left--)
      least = Math.min(
        least,
        timed(() => play(target.protocol, input)),
      );
    return least > mostMs ? `took ${Math.round(least)} ms` : undefined;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

let findings = 0;
for (const protocol of chosen) {
  const target = new Target(protocol);
  const random = new Random(Number(values.seed));
  const begin = performance.now();
  let played = 0;
  let found = 0;
  let told = begin;
  const share = seconds === undefined ? Number.POSITIVE_INFINITY : (seconds * 1000) / chosen.length;
  while (played < count && found < mostFindings && performance.now() - begin < share) {
    const input = target.input(random);
    played++;
    const problem = problemOf(target, input);
    if (problem !== undefined) {
      found++;
      const { pieces, ...known } = input;
      process.stdout.write(
        `${protocol.id} input ${played}: ${problem}\n  ${JSON.stringify({ pieces: pieces.map((piece) => piece.toHex()), ...known })}\n`,
      );
    }
    if (performance.now() - told > 5000) {
      told = performance.now();
      process.stderr.write(`${protocol.id}: ${played} inputs, ${found} findings\n`);
    }
  }
  findings += found;
  process.stdout.write(
    `${protocol.id}: ${played} inputs in ${Math.round((performance.now() - begin) / 1000)} s, ${found} findings\n`,
  );
}
process.exit(findings > 0 ? 1 : 0);
