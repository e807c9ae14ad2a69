import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { dataFolder, removeFolder } from "../../test/support/service.ts";
import { type Base, everything, Image, readBase, type Survival } from "./disk-image.ts";
import { type Recorded, readRecord } from "./disk-record.ts";
import { type Preloaded, preloaded } from "./preload.ts";

/** A disk writes as many bytes at once, wherever they begin. */
const sectorBytes = 512;

/** What a power cut leaves of what was not synced: nothing · each operation or not · of each write some sectors. */
export type Cut = "nothing" | "some" | "sectors";

/**
 * The disk of one folder: what the processes that load it do to its files is recorded, so that its power can be cut
 * once they have ended. The kernel keeps what a killed process wrote; a power cut keeps only what was synced, and of
 * everything else what chance decides.
 */
export class Disk {
  readonly #root: string;
  readonly #base: Base;
  readonly #folder = dataFolder();
  readonly #record = join(this.#folder, "record");

  /** Reads the folder as it is now, which counts as synced. No process may be writing to it. */
  constructor(root: string) {
    this.#root = realpathSync(root);
    this.#base = readBase(this.#root);
  }

  /** Variables for the processes. `killAt`: the number of the operation at which the process is killed. */
  environment(killAt?: number): Preloaded {
    return preloaded("disk", {
      CHAOS_ROOT: this.#root,
      CHAOS_RECORD: this.#record,
      ...(killAt !== undefined && { CHAOS_KILL_AT: String(killAt) }),
    });
  }

  /** How many operations there were. */
  get operations(): number {
    return this.#read().count;
  }

  /**
   * Cuts the power: the folder becomes what is left. Gives how many operations were lost, or a part of them. The
   * processes must have ended.
   */
  cut(cut: Cut, random: () => number): number {
    const { operations } = this.#read();
    this.#verify();
    const image = new Image(this.#base, operations, survivalOf(cut, random));
    image.write();
    return image.lost;
  }

  close(): void {
    removeFolder(this.#folder);
  }

  #read(): Recorded {
    return statSync(this.#record, { throwIfNoEntry: false }) === undefined
      ? { operations: [], count: 0 }
      : readRecord(this.#record);
  }

  /** Throws where what was recorded is not what was done: the power cut would be another one than those that happen. */
  #verify(): void {
    const { operations } = this.#read();
    const unsure = operations.at(-1);
    const differs = (some: typeof operations) => new Image(this.#base, some, everything).difference(unsure);
    const first = differs(operations);
    // The last one may not have been done.
    if (first !== undefined && differs(operations.slice(0, -1)) !== undefined)
      throw new Error(`${first} is not what was recorded of it`);
  }
}

function survivalOf(cut: Cut, random: () => number): Survival {
  const some = cut !== "nothing";
  return {
    parts(length) {
      if (!some || (cut === "some" && random() < 0.5)) return [];
      if (cut === "some") return [[0, length]];
      const sectors = Array.from({ length: Math.ceil(length / sectorBytes) }, (_, sector) => sector * sectorBytes);
      return sectors.filter(() => random() < 0.5).map((from) => [from, Math.min(length, from + sectorBytes)] as const);
    },
    truncates: () => some && random() < 0.5,
    names: (count) => (some ? Math.floor(random() * (count + 1)) : 0),
  };
}
