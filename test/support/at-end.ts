import { after } from "node:test";

type Close = () => unknown;

const open = new Set<Close>();

/**
 * Notes how something is closed that a test's own last statement closes too: one that fails before must not keep its
 * file's process alive. Call it to take the note back.
 */
export function atEnd(close: Close): () => void {
  open.add(close);
  return () => void open.delete(close);
}

/** Something that its test closes; where it does not, it is closed at the end of the test file. */
export function closedAtEnd<T extends { close(): Promise<void> }>(opened: T): T {
  const { close: closeIt } = opened;
  let closed: Promise<void> | undefined;
  const close = () => {
    forget();
    closed ??= closeIt();
    return closed;
  };
  const forget = atEnd(close);
  return Object.defineProperty(opened, "close", { value: close });
}

// The benches use the same support outside of the test runner, which this would start.
if (process.env.NODE_TEST_CONTEXT !== undefined)
  after(async () => {
    for (const close of [...open].toReversed()) await close();
  });
