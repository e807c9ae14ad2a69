import { parentPort, workerData } from "node:worker_threads";
import type { CallFailure } from "../failures.ts";
import type { Calls } from "./calls.ts";
import type { AnswerMessage, RequestMessage } from "./messages.ts";
import { giveWay } from "./priority.ts";
import type { WorkerOrder } from "./worker-link.ts";

/** An answer with the buffers that are handed over, not copied. */
export interface Handed<T> {
  readonly answer: T;
  readonly transfer: readonly ArrayBuffer[];
}

/** How a worker answers each of its calls. */
export type Handlers<C extends Calls<C>> = {
  readonly [K in keyof C]: (request: C[K]["request"]) => Handed<C[K]["answer"]> | Promise<Handed<C[K]["answer"]>>;
};

/** An answer without buffers. */
export function plain<T>(answer: T): Handed<T> {
  return { answer, transfer: [] };
}

// What the link that starts this worker hands over.
const order: WorkerOrder = workerData;

/** The database that this worker was started for: a file, or a URL. */
export function databaseOfWorker(): string {
  return order.database;
}

/** Answers calls until `close` was answered. `failureOf`: what to tell the caller about a failure. */
export function serve<C extends Calls<C>>(handlers: Handlers<C>, failureOf: (error: unknown) => CallFailure): void {
  const port = parentPort;
  if (port === null) throw new TypeError("this file runs as a worker only");
  if (order.givesWay) giveWay();
  const byName = new Map<string, (request: never) => Handed<unknown> | Promise<Handed<unknown>>>(
    Object.entries(handlers),
  );
  const fail = (id: number, error: unknown) =>
    port.postMessage({ id, failure: failureOf(error) } satisfies AnswerMessage);
  const tell = ({ id, name }: RequestMessage, { answer, transfer }: Handed<unknown>) => {
    port.postMessage({ id, answer } satisfies AnswerMessage, [...transfer]);
    if (name === "close") port.close();
  };
  port.on("message", (message: RequestMessage) => {
    const { id, name, request } = message;
    try {
      const handler = byName.get(name);
      if (handler === undefined) throw new TypeError(`no such call: ${name}`);
      // The sender's type ties each name to its request.
      const handed = handler(request as never);
      if (!(handed instanceof Promise)) tell(message, handed);
      else
        handed
          .then((answer) => tell(message, answer))
          .catch((error) => fail(id, error))
          .finally(() => name === "close" && port.close());
    } catch (error) {
      fail(id, error);
      if (name === "close") port.close();
    }
  });
}
