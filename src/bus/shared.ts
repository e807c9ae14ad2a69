import type { Bus } from "../ports/bus.ts";
import type { Processes } from "../ports/processes.ts";
import { createMemoryBus } from "./memory.ts";

/**
 * The bus of all processes of a service: what one publishes, its own listeners hear at once, and those of the others
 * soon after.
 */
export function createSharedBus(
  processes: Pick<Processes, "others" | "tell" | "onTold" | "onOthers">,
  onError: (error: unknown) => void,
): Bus {
  const { deliver, subscribe, close } = createMemoryBus(onError);
  processes.onTold(deliver);
  let known = processes.others;
  processes.onOthers((others) => {
    const came = others.filter((name) => !known.includes(name));
    const missed = known.filter((name) => !others.includes(name));
    known = others;
    deliver({ type: "processesChanged", came, missed });
  });
  return {
    subscribe,
    close,
    publish(event, to) {
      deliver(event);
      if (to !== "here") processes.tell(event);
    },
  };
}
