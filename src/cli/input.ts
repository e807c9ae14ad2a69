import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import { CliError } from "./exit.ts";
import type { Terminal } from "./host.ts";

/** The lines of a file, or of standard input where it is `-`. */
export async function* inputLines(terminal: Terminal, file: string): AsyncGenerator<string> {
  if (file === "-") {
    yield* createInterface({ input: terminal.input, crlfDelay: Number.POSITIVE_INFINITY });
    return;
  }
  const handle = await open(file).catch((error: unknown) => {
    const cause = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new CliError("usage", `can't read ${file} (${cause})`);
  });
  try {
    yield* handle.readLines();
  } finally {
    await handle.close();
  }
}
