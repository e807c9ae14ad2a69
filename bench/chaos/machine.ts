import { spawnSync } from "node:child_process";

/** Runs a program of the system to its end. Fails where it does. */
export function run(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", timeout: 30_000 });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr}`);
  return stdout;
}

/** Says that a program of a Debian package is missing; undefined where it is there. */
export function missing(program: string, debianPackage: string): string | undefined {
  const { error } = spawnSync(program, ["--version"], { stdio: "ignore", timeout: 30_000 });
  return error === undefined ? undefined : `needs ${program} (Debian package ${debianPackage})`;
}
