import { executionAsyncResource } from "node:async_hooks";

let kept: object | undefined;

/**
 * Keeps one of the objects that Node makes for each `process.nextTick`; gives it. To be called once, when the process
 * starts.
 *
 * A full garbage collection that finds none of these objects makes V8 forget what they look like, and from then on
 * Node's code for them is never fast again: each takes a microsecond and more, in the place of a tenth. A request needs
 * five of them. The collection before the service listens (src/app.ts) did this.
 */
export function keepTicksFast(): Promise<object> {
  return new Promise((resolve) => {
    process.nextTick(() => {
      kept = executionAsyncResource();
      resolve(kept);
    });
  });
}
