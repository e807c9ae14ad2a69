import { ApiFailure } from "./client.ts";
import { CliError, type ExitName } from "./exit.ts";
import type { Host } from "./host.ts";
import { inParallel } from "./parallel.ts";
import { Progress } from "./progress.ts";
import { plain } from "./text.ts";

/** Requests at a time. */
const parallel = 8;

/** One of many devices that something is done to. */
export interface Item {
  readonly id: string;
  /** Where it was named, such as a line of a file; absent: by the command line. */
  readonly source?: string;
}

/**
 * Does the work for every item. An item that the service refuses is named, and the others are done all the same. At the
 * end people are told which item was `done` ("added 17"), or how many of several, also where something stopped the
 * work. Throws where an item was not done.
 */
export async function forAll<T extends Item>(
  host: Host,
  items: readonly T[],
  done: string,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const progress = new Progress(host);
  const failures: ApiFailure[] = [];
  let count = 0;
  try {
    await inParallel(parallel, items, async (item) => {
      try {
        await work(item);
        count += 1;
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.exit === "denied" || items.length === 1) throw error;
        failures.push(error);
        progress.end();
        host.terminal.err(`waybeam: ${error.message}\n`);
      }
      if (items.length > parallel) progress.show(() => `${count + failures.length} of ${items.length} devices`);
    });
  } finally {
    progress.end();
    const left = items.length - count;
    const [only] = items.length === 1 ? items : [];
    if (only === undefined) host.terminal.err(`${count} ${done}${left > 0 ? `, ${left} not` : ""}\n`);
    else if (left === 0) host.terminal.err(`${done} ${nameOf(only)}\n`);
  }
  const { length } = failures;
  if (length === 0) return;
  throw new CliError(
    exitOf(failures),
    `${length} of ${items.length} devices ${length === 1 ? "was" : "were"} not ${done}`,
  );
}

/** The item as a message names it. */
export function nameOf({ id, source }: Item): string {
  return source === undefined ? plain(id) : `${plain(id)} (${plain(source)})`;
}

/** The failures' own exit where all have the same, otherwise the general one. */
function exitOf(failures: readonly ApiFailure[]): ExitName {
  const kinds = new Set(failures.map(({ exit }) => exit));
  const [kind] = kinds;
  return kinds.size === 1 && kind !== undefined ? kind : "failure";
}
