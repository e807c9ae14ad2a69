import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { CompiledQuery } from "kysely";
import { StoreUnavailable } from "../../ports/store.ts";

/**
 * Runs statements in their order and in one transaction: all of them or none. Returns how many rows each changed. An
 * engine does it in as few messages as it can.
 */
export type RunTogether = (statements: readonly CompiledQuery[]) => Promise<readonly number[]>;

/** Statements of a group: some 20 µs of the engine's thread each, and other writes wait for all. */
const mostStatements = 100;
/** Characters of the texts in a group. */
const mostCharacters = 100_000;

/** Pause between two groups, ms. */
const restMs = 10;

/** One caller's statements. */
interface Step {
  /** Its place in the order of the group. */
  readonly place: number;
  readonly statements: readonly CompiledQuery[];
  resolve(changed: readonly number[]): void;
  reject(error: unknown): void;
}

/**
 * Short writes of many callers, in groups. While one group is written, and for a short rest after it, the steps that
 * are asked for wait, and then share a transaction. A transaction of its own for each waits for the disk each time, and
 * others wait behind it. Without the rest, hundreds of calls of webhooks a second kept the disk busy for half of the
 * time. A step that comes after the rest is written at once.
 */
export class StatementGroups {
  readonly #together: RunTogether;
  readonly #rest: () => Promise<void>;
  readonly #waiting: Step[] = [];
  #working = false;

  /** `rest` waits for the time that the engine is left alone after a group. */
  constructor(together: RunTogether, rest = () => pause(restMs)) {
    this.#together = together;
    this.#rest = rest;
  }

  /**
   * Runs the statements of one step, all or none, after those of all earlier steps with the same place. Returns how
   * many rows each changed. The steps of a group run in the order of their places: an engine with locks could otherwise
   * have a deadlock between a group and somebody who locks the same rows in another order.
   */
  run(place: number, statements: readonly CompiledQuery[]): Promise<readonly number[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ place, statements, resolve, reject });
      if (!this.#working) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#working = true;
    while (this.#waiting.length > 0) {
      // Whoever asks in this turn goes along.
      await nextTurn();
      const group = this.#waiting.splice(0, this.#fitting());
      await this.#write(group.sort((one, other) => one.place - other.place));
      await this.#rest();
    }
    this.#working = false;
  }

  /** How many of the waiting steps fit a group: at least one. */
  #fitting(): number {
    let statements = 0;
    let characters = 0;
    const end = this.#waiting.findIndex((step, index) => {
      statements += step.statements.length;
      characters += charactersOf(step);
      return index > 0 && (statements > mostStatements || characters > mostCharacters);
    });
    return end < 0 ? this.#waiting.length : end;
  }

  async #write(group: readonly Step[]): Promise<void> {
    try {
      const changed = await this.#together(group.flatMap(({ statements }) => statements));
      let at = 0;
      for (const { statements, resolve } of group) {
        resolve(changed.slice(at, at + statements.length));
        at += statements.length;
      }
    } catch (error) {
      if (group.length > 1 && isOfOne(error)) for (const step of group) await this.#write([step]);
      else for (const { reject } of group) reject(error);
    }
  }
}

/**
 * Whether a group may have failed because of one of its steps, as where its row is damaged. Then the engine says so,
 * and has taken the group back. Where it gave no answer, the group may be on disk: a claim that is tried again would
 * not know that the first one was its own.
 */
function isOfOne(error: unknown): boolean {
  return !(error instanceof StoreUnavailable) || (error.trouble !== "down" && error.cause !== undefined);
}

function charactersOf({ statements }: Step): number {
  let sum = 0;
  for (const { parameters } of statements)
    for (const parameter of parameters) if (typeof parameter === "string") sum += parameter.length;
  return sum;
}
