import { parentPort, workerData } from "node:worker_threads";
import { failureOf } from "./engine-errors.ts";
import type { AnswerMessage, Calls, RequestMessage } from "./messages.ts";
import { giveWay } from "./priority.ts";
import type { WorkerOrder } from "./worker-link.ts";

/** An answer with the buffers that are handed over, not copied. */
export interface Handed<T> {
  readonly answer: T;
  readonly transfer: readonly ArrayBuffer[];
}

/** How a worker answers each of its calls. */
export type Handlers<C extends Calls<C>> = {
  readonly [K in keyof C]: (request: C[K]["request"]) => Handed<C[K]["answer"]>;
};

/** An answer without buffers. */
export function plain<T>(answer: T): Handed<T> {
  return { answer, transfer: [] };
}

// What the link that starts this worker hands over.
const order: WorkerOrder = workerData;

/** The database file that this worker was started for. */
export function databaseFile(): string {
  return order.database;
}

/** Bytes of decompressed blocks that this worker may keep. */
export function cacheBytes(): number {
  return order.cacheBytes;
}

/** Answers calls one after the other until the last handler closes the port. */
export function serve<C extends Calls<C>>(handlers: Handlers<C>): void {
  const port = parentPort;
  if (port === null) throw new TypeError("this file runs as a worker only");
  if (order.givesWay) giveWay();
  const byName = new Map<string, (request: never) => Handed<unknown>>(Object.entries(handlers));
  port.on("message", ({ id, name, request }: RequestMessage) => {
    try {
      const handler = byName.get(name);
      if (handler === undefined) throw new TypeError(`no such call: ${name}`);
      // The sender's type ties each name to its request.
      const { answer, transfer } = handler(request as never);
      port.postMessage({ id, answer } satisfies AnswerMessage, [...transfer]);
    } catch (error) {
      port.postMessage({ id, failure: failureOf(error) } satisfies AnswerMessage);
    }
    if (name === "close") port.close();
  });
}
