import type { Command } from "../model/command.ts";
import type { Bus, BusEvent } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import { unknownOutcome } from "./command-outcome.ts";

/** Time after which another process, which has told nothing more of a command, may not wait for it any longer, ms. */
const longestMs = 60_000;
/** Commands of others that are remembered, some 100 bytes each. */
const mostElsewhere = 10_000;

interface Elsewhere {
  readonly process: string;
  readonly at: number;
}

/**
 * Commands whose outcome this process waits for, by id, and those of which others say that they do. Their records say
 * that the outcome is unknown, for the case that the process ends now; to readers that is no failure as long as it does
 * not.
 */
export class CommandsUnderWay {
  readonly #clock: Clock;
  readonly #work = new Map<string, Promise<unknown>>();
  readonly #elsewhere = new Map<string, Elsewhere>();

  constructor(bus: Pick<Bus, "subscribe">, clock: Clock) {
    this.#clock = clock;
    bus.subscribe((event, from) => this.#hear(event, from));
  }

  /** Does the work on a command; one at a time for each. */
  async run<T>(id: string, work: () => Promise<T>): Promise<T> {
    const running = work();
    this.#work.set(id, running);
    try {
      return await running;
    } finally {
      if (this.#work.get(id) === running) this.#work.delete(id);
    }
  }

  has(id: string): boolean {
    const other = this.#elsewhere.get(id);
    return this.#work.has(id) || (other !== undefined && this.#clock.monotonic() - other.at < longestMs);
  }

  /** Resolves when the command's outcome, or that it has none, is recorded; at once where nothing is under way. */
  async settled(id: string): Promise<void> {
    await this.#work.get(id)?.catch(() => {});
  }

  /** The command as it is to be told. */
  tell(command: Command): Command {
    return this.has(command.id) && command.failure === unknownOutcome ? { ...command, failure: null } : command;
  }

  /** What is published of a command that was recorded. */
  changed(command: Command): BusEvent {
    const underWay = this.#work.has(command.id) && command.failure === unknownOutcome;
    return { type: "commandChanged", command: this.tell(command), ...(underWay && { underWay }) };
  }

  #hear(event: BusEvent, from: string | undefined): void {
    if (event.type === "processesChanged") {
      for (const [id, { process }] of this.#elsewhere) if (event.missed.includes(process)) this.#elsewhere.delete(id);
    } else if (event.type === "commandChanged" && from !== undefined) {
      const { command, underWay } = event;
      this.#elsewhere.delete(command.id);
      if (underWay) this.#remember(command.id, { process: from, at: this.#clock.monotonic() });
    }
  }

  #remember(id: string, other: Elsewhere): void {
    this.#elsewhere.set(id, other);
    if (this.#elsewhere.size <= mostElsewhere) return;
    for (const oldest of this.#elsewhere.keys()) {
      this.#elsewhere.delete(oldest);
      return;
    }
  }
}
