import type { Bus, BusEvent } from "../ports/bus.ts";

/**
 * The bus of a service that is one process. Listeners run before `publish` returns, so what follows a change already sees it;
 * a listener that throws stops neither the others nor the publisher, and its error goes to `onError`.
 */
export function createMemoryBus(onError: (error: unknown) => void): Bus {
  const listeners = new Set<(event: BusEvent, from?: string) => void>();
  return {
    publish(event) {
      for (const listener of [...listeners]) {
        try {
          listener(event);
        } catch (error) {
          onError(error);
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      listeners.clear();
    },
  };
}
