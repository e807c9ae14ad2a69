import type { Bus, BusEvent } from "../ports/bus.ts";

/** The bus of one process. `deliver`: brings listeners what another process published. */
export interface MemoryBus extends Bus {
  deliver(event: BusEvent, from?: string): void;
}

/**
 * The bus of a service that is one process. Listeners run before `publish` returns, so what follows a change already
 * sees it; a listener that throws stops neither the others nor the publisher, and its error goes to `onError`.
 */
export function createMemoryBus(onError: (error: unknown) => void): MemoryBus {
  const listeners = new Set<(event: BusEvent, from?: string) => void>();
  const deliver = (event: BusEvent, from?: string) => {
    for (const listener of [...listeners]) {
      try {
        listener(event, from);
      } catch (error) {
        onError(error);
      }
    }
  };
  return {
    deliver,
    publish: (event) => deliver(event),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      listeners.clear();
    },
  };
}
