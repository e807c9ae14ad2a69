import { relative } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { spec } from "node:test/reporters";

/** A test file and how long its process ran, ms. */
interface Timed {
  readonly file: string;
  readonly ms: number;
}

const slowest = 10;

/** What `spec` prints of these is a line for each test; here a file has one. */
const ofPassedTests: ReadonlySet<string> = new Set(["test:start", "test:pass"]);

/**
 * A reporter of the test runner: one line for each file with its time, each failure, the slowest files, and last the
 * counts and failures as `spec` prints them.
 */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const rest = new spec();
  const files: Timed[] = [];
  for await (const event of events) {
    if (event.type === "test:summary" && event.data.file !== undefined) {
      const timed = { file: relative(process.cwd(), event.data.file), ms: event.data.duration_ms };
      files.push(timed);
      yield line(timed);
    }
    // The runner's own counts come when all files are through.
    if (event.type === "test:plan" && event.data.file === undefined) yield* listOf(files);
    if (!ofPassedTests.has(event.type)) rest.write(event);
    for (let text = rest.read(); text !== null; text = rest.read()) yield String(text);
  }
  rest.end();
  for await (const text of rest) yield String(text);
}

function* listOf(files: readonly Timed[]): Generator<string> {
  if (files.length < 2) return;
  yield `\nThe slowest of ${files.length} test files:\n`;
  for (const timed of files.toSorted((one, other) => other.ms - one.ms).slice(0, slowest)) yield line(timed);
  yield "\n";
}

const line = ({ file, ms }: Timed) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${file}\n`;
