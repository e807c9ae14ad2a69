import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const program = join(import.meta.dirname, "../../src/main.ts");

/** What a command did. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The command line with a data folder: real processes. */
export function commandLine(directory: string) {
  function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
    return spawn(process.execPath, [program, ...args], { env: { ...process.env, WAYBEAM_DATA: directory, ...env } });
  }
  return {
    start,
    async waybeam(args: readonly string[], input = "", env: Readonly<Record<string, string>> = {}): Promise<Ended> {
      const child = start(args, env);
      child.stdin?.end(input);
      return await ended(child);
    },
  };
}

/** Waits until a command has ended. */
export async function ended(child: ChildProcess): Promise<Ended> {
  const collect = async (stream: NodeJS.ReadableStream | null) => {
    let text = "";
    for await (const chunk of stream ?? []) text += String(chunk);
    return text;
  };
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const [code, out, err] = await Promise.all([exit, collect(child.stdout), collect(child.stderr)]);
  return { code, out, err };
}

/** Kills a command `ms` after it has locked the folder: most of its time goes into starting. */
export async function killedAfter(child: ChildProcess, folder: string, ms: number): Promise<void> {
  const locked = () => {
    try {
      return readFileSync(join(folder, "lock.pid"), "utf8") === `${child.pid}\n`;
    } catch {
      return false;
    }
  };
  const exit = once(child, "exit");
  while (child.exitCode === null && !locked()) await sleep(1);
  const timer = setTimeout(() => child.kill("SIGKILL"), ms);
  await exit;
  clearTimeout(timer);
}

/** The objects of JSON Lines. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
