/**
 * Loaded into each test file's process (`--import`): gives it an end. The runner's `--test-timeout` ends a test that
 * hangs; a file whose tests are over and that left a server or a child process open would still keep the runner waiting
 * for ever.
 */
import { isMainThread } from "node:worker_threads";

/** Time that a test file has, ms. The slowest takes about a minute on two busy cores. */
const longest = 480_000;

function end(): void {
  const open = process.getActiveResourcesInfo().filter((resource) => resource !== "Timeout");
  process.stderr.write(
    `${process.argv[1]}: not over after ${longest / 1000} s; still open: ${open.join(", ") || "timers only"}. Close what a test opens in an after hook.\n`,
  );
  process.exit(1);
}

// Not the runner itself, and not the store's threads, which are loaded with the same flags.
if (isMainThread && process.env.NODE_TEST_CONTEXT !== undefined) setTimeout(end, longest).unref();
