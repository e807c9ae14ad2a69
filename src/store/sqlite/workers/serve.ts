import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { failureOf } from "../engine-errors.ts";
import type { Calls } from "./calls.ts";
import type { AnswerMessage, RequestMessage } from "./messages.ts";
import { giveWay } from "./priority.ts";
import type { WorkerOrder } from "./worker-link.ts";

/** An answer with the buffers that are handed over, not copied. */
export class Handed<T> {
  readonly answer: T;
  readonly transfer: readonly ArrayBuffer[];

  constructor(answer: T, transfer: readonly ArrayBuffer[]) {
    this.answer = answer;
    this.transfer = transfer;
  }
}

/** How a worker answers each of its calls but the last. */
type Handlers<C extends Calls<C>, Opened> = {
  readonly [K in Exclude<keyof C, "close">]: (
    opened: Opened,
    request: C[K]["request"],
  ) => C[K]["answer"] | Handed<C[K]["answer"]>;
};

/**
 * Answers calls until `close` was answered. `open`: opens the file that the worker was started for, by the first call,
 * so that a failure to open is that call's answer.
 */
export function serve<C extends Calls<C>, Opened extends { readonly database: DatabaseSync }>(
  open: (file: string) => Opened,
  handlers: Handlers<C, Opened>,
): void {
  const port = parentPort;
  if (port === null) throw new TypeError("this file runs as a worker only");
  // What the link that starts this worker hands over.
  const order: WorkerOrder = workerData;
  if (order.givesWay) giveWay();
  const byName = new Map<string, (opened: Opened, request: never) => unknown>(Object.entries(handlers));
  let opened: Opened | undefined;
  const answerOf = ({ name, request }: RequestMessage): unknown => {
    if (name === "close") return opened?.database.close();
    const handler = byName.get(name);
    if (handler === undefined) throw new TypeError(`no such call: ${name}`);
    opened ??= open(order.database);
    // The sender's type ties each name to its request.
    return handler(opened, request as never);
  };
  port.on("message", (message: RequestMessage) => {
    const { id, name } = message;
    try {
      const answer = answerOf(message);
      const { answer: plain, transfer } = answer instanceof Handed ? answer : { answer, transfer: [] };
      port.postMessage({ id, answer: plain } satisfies AnswerMessage, [...transfer]);
    } catch (error) {
      port.postMessage({ id, failure: failureOf(error) } satisfies AnswerMessage);
    }
    if (name === "close") port.close();
  });
}
