import type { ChildProcess } from "node:child_process";
import { placesOf } from "../../test/support/service.ts";
import { type Ended, ended } from "../../test/support/waybeam.ts";
import { type Cut, Disk } from "./disk.ts";
import type { Scene } from "./fault.ts";
import type { Preloaded } from "./preload.ts";

/** What a command whose operations nobody has counted yet may do. */
const firstGuess = 150;
/** The last of its operations, among which are those that give files their names. */
const lastOperations = 24;
const cuts: readonly Cut[] = ["nothing", "some", "sectors"];

/** Starts a command with these variables. */
export type Starting = (environment: Preloaded) => ChildProcess;

/** What became of a command: it was killed, or it ended by itself. */
export type Outcome = "killed" | Ended;

/**
 * Kills of one command at random operations on a disk, however fast the machine is: half of the time at any of them, a
 * quarter at one of the last. A quarter of the time it may end.
 */
export class Interruptions {
  readonly #scene: Scene;
  readonly #what: string;
  /** How many operations the command does. */
  #whole = firstGuess;

  constructor(scene: Scene, what: string) {
    this.#scene = scene;
    this.#what = what;
  }

  /** The operation at which it is killed. */
  #place(): number {
    const { random } = this.#scene;
    const kind = random();
    if (kind < 0.25) return Number.MAX_SAFE_INTEGER;
    const last = kind < 0.5 ? Math.min(lastOperations, this.#whole) : this.#whole;
    return this.#whole - Math.floor(random() * last);
  }

  /**
   * Runs it on the disk of a folder. Kills it at one of its operations, or when the service is ready that it starts, or
   * lets it end. `power`: half of the time the power of that disk is cut then, whether it was killed or not.
   */
  async run(folder: string, power: boolean, start: Starting): Promise<Outcome> {
    const { random, count } = this.#scene;
    const disk = new Disk(folder);
    try {
      const at = this.#place();
      const child = start(disk.environment(at));
      void placesOf(child).then(
        () => child.kill("SIGKILL"),
        () => undefined,
      );
      const outcome = await ended(child);
      const { operations } = disk;
      const isKilled = child.signalCode === "SIGKILL";
      // The one at which it is killed is not recorded, unless it is half a write.
      if (operations < at - 1 || !isKilled) this.#whole = operations;
      count(isKilled ? `kills of ${this.#what}` : `${this.#what} ended before`);
      if (power && random() < 0.5) {
        const cut = cuts[Math.floor(random() * cuts.length)] ?? "nothing";
        count("operations lost in power cuts", disk.cut(cut, random));
        count("power cuts");
      }
      return isKilled ? "killed" : outcome;
    } finally {
      disk.close();
    }
  }
}
