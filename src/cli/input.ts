import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import { CliError } from "./exit.ts";
import type { Terminal } from "./host.ts";
import { plain } from "./text.ts";

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

/** The whole text of a file, or of standard input where it is `-`. */
async function inputText(terminal: Terminal, file: string): Promise<string> {
  const lines: string[] = [];
  for await (const line of inputLines(terminal, file)) lines.push(line);
  return lines.join("\n");
}

/**
 * A secret in a file, or on standard input where it is `-`: its one line. Not an option's value, which other users of
 * the machine can see.
 */
export async function inputSecret(terminal: Terminal, file: string): Promise<string> {
  const secret = (await inputText(terminal, file)).trim();
  if (secret === "") throw new CliError("usage", `${file === "-" ? "standard input" : plain(file)} holds no secret`);
  return secret;
}

/** The JSON of a file, or of standard input where it is `-`. Throws a CliError where it is none. */
export async function inputJson(terminal: Terminal, file: string): Promise<unknown> {
  const text = await inputText(terminal, file);
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch (error) {
    const name = file === "-" ? "standard input" : plain(file);
    throw new CliError("usage", `${name} is not JSON: ${plain(error instanceof Error ? error.message : error)}`);
  }
}
