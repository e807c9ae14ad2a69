/** A command that was written and whose reply may come. */
interface Open<C> {
  readonly command: C;
  /** What its reply calls it; undefined: nothing that is known. */
  readonly name: string | undefined;
  /** Place in the order of everything that was written and heard. */
  readonly at: number;
}

/** A reply of which it can't be told yet which command it answers. */
interface Held<R> {
  readonly reply: R;
  readonly name: string | undefined;
  readonly at: number;
}

/** A command and its reply. */
export interface Match<C, R> {
  readonly command: C;
  readonly reply: R;
}

/**
 * Commands of one conversation that may still be answered, at most: more than anybody sends within the minutes in which
 * a reply may come, and few enough to look through for each reply. Beyond them the oldest is given up.
 */
const mostOpen = 64;

/**
 * Tells which command each reply of a device answers; a pure state machine. A reply that says what it answers is given
 * to the command of that name. Those that say nothing, or a name that several have, come in the order of the commands,
 * and some commands are never answered. So such a reply is a command's only where no other assignment is possible: the
 * one reply to the one open command, or one reply for each of several. As long as it can be an earlier command's as
 * well as a later one's, it is held, and it is nobody's where nothing more comes.
 */
export class ReplyMatcher<C, R> {
  #open: readonly Open<C>[] = [];
  #held: readonly Held<R>[] = [];
  #now = 0;

  /** Whether any command may still be answered. */
  get waits(): boolean {
    return this.#open.length > 0;
  }

  /** The commands that may still be answered, oldest first. */
  get commands(): readonly C[] {
    return this.#open.map(({ command }) => command);
  }

  /** A command was written; its reply will call it so, where that is known. */
  written(command: C, name: string | undefined): void {
    const [oldest] = this.#open;
    if (this.#open.length === mostOpen && oldest !== undefined) this.forget(oldest.command);
    this.#open = [...this.#open, { command, name, at: this.#now++ }];
  }

  /** A reply came; what it, and those that were held, answer now for certain. */
  replied(reply: R, name: string | undefined): readonly Match<C, R>[] {
    this.#held = [...this.#held, { reply, name, at: this.#now++ }];
    const matches: Match<C, R>[] = [];
    for (let found = this.#settle(); found !== undefined; found = this.#settle()) matches.push(found);
    return matches;
  }

  /** The command's reply comes no more; neither can be told any longer what answers that may have been its. */
  forget(command: C): void {
    const gone = this.#open.find((open) => open.command === command);
    if (gone === undefined) return;
    this.#held = this.#held.filter((held) => !mayAnswer(held, gone));
    this.#open = this.#open.filter((open) => open !== gone);
  }

  /** The oldest reply that is held and may be this command's. */
  unclear(command: C): R | undefined {
    const open = this.#open.find((each) => each.command === command);
    return open && this.#held.find((held) => mayAnswer(held, open))?.reply;
  }

  /** Takes out one reply for which there is one command, or none at all. */
  #settle(): Match<C, R> | undefined {
    for (const name of new Set(this.#held.map((held) => held.name))) {
      const held = this.#held.filter((each) => each.name === name);
      // The last reply has the last command it may answer for its latest, each one before it a command earlier at
      // least.
      let latest = Number.POSITIVE_INFINITY;
      for (let index = held.length - 1; index >= 0; index--) {
        const reply = held[index];
        if (reply === undefined) continue;
        const candidates = this.#open.filter((open) => mayAnswer(reply, open));
        latest = Math.min(latest - 1, candidates.length - 1);
        const open = candidates[latest];
        if (latest > index && open !== undefined) continue;
        this.#held = this.#held.filter((each) => each !== reply);
        if (latest < index || open === undefined) return this.#settle();
        this.#open = this.#open.filter((each) => each !== open);
        return { command: open.command, reply: reply.reply };
      }
    }
    return undefined;
  }
}

function mayAnswer(reply: Held<unknown>, open: Open<unknown>): boolean {
  return open.at < reply.at && (reply.name === undefined || reply.name === open.name);
}
