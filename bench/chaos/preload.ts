import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { dataFolder, removeFolder } from "../../test/support/service.ts";
import { missing, run } from "./machine.ts";

/*
 * Libraries that the dynamic linker loads into the service before all others (LD_PRELOAD): their functions take the
 * place of those of the C library. Their sources are in preload/.
 */

/** Says why no such library can be made; undefined where one can. */
export function noPreload(): string | undefined {
  if (process.platform !== "linux") return "needs Linux: it loads a library into the service";
  return missing("gcc", "gcc");
}

const compiled = new Map<string, string>();

/** The library of a source, compiled once by each process. */
function library(name: "clock" | "disk"): string {
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const folder = dataFolder();
  process.once("exit", () => removeFolder(folder));
  const made = join(folder, `${name}.so`);
  const source = join(import.meta.dirname, "preload", `${name}.c`);
  run("gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", made, source);
  compiled.set(name, made);
  return made;
}

/** Environment variables of processes that are to load libraries. */
export type Preloaded = Readonly<Record<string, string>>;

/** The variables of both. */
export function together(one: Preloaded, other: Preloaded): Preloaded {
  return { ...one, ...other, LD_PRELOAD: `${one.LD_PRELOAD} ${other.LD_PRELOAD}` };
}

/** Variables for a library and its settings. */
export function preloaded(name: "clock" | "disk", settings: Readonly<Record<string, string>>): Preloaded {
  return { LD_PRELOAD: library(name), ...settings };
}

/** The clocks of the processes that load it. They go on at the machine's pace, and jump when they are set. */
export class MovedClock {
  readonly #folder = dataFolder();
  readonly #path = join(this.#folder, "clock");
  readonly #file = openSync(this.#path, "w+");
  #aheadMs: number;
  #passedMs = 0;

  /** `aheadMs`: how far the clock of the day is ahead of the machine's. */
  constructor(aheadMs = 0) {
    this.#aheadMs = aheadMs;
    this.#write();
  }

  get environment(): Preloaded {
    return preloaded("clock", { CHAOS_CLOCK: this.#path });
  }

  /** Sets the clock of the day alone. */
  set(aheadMs: number): void {
    this.#aheadMs = aheadMs;
    this.#write();
  }

  /** Lets time pass, as if the process had stood still: the clock that never goes back is ahead, too. */
  pass(ms: number): void {
    this.#passedMs += ms;
    this.#write();
  }

  close(): void {
    closeSync(this.#file);
    removeFolder(this.#folder);
  }

  #write(): void {
    const bytes = Buffer.alloc(16);
    bytes.writeBigInt64LE(BigInt(Math.round(this.#aheadMs + this.#passedMs)) * 1_000_000n, 0);
    bytes.writeBigInt64LE(BigInt(this.#passedMs) * 1_000_000n, 8);
    writeSync(this.#file, bytes, 0, bytes.length, 0);
  }
}
