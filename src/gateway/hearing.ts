import type { Bus, BusEvent, ReachChange } from "../ports/bus.ts";
import type { CommandDesk } from "./commands.ts";
import type { Logins } from "./logins.ts";
import type { Registry } from "./registry.ts";

/** What hearing needs of what all connections share. */
export interface Hearing {
  readonly registry: Registry;
  readonly logins: Pick<Logins, "deviceChanged">;
  readonly commands: Pick<CommandDesk, "answered">;
  readonly deps: { readonly bus: Pick<Bus, "publish"> };
  readonly tick: number;
}

/** Devices of one event, for processes that have come. */
const announcedAtOnce = 500;

/** What the bus says that connections must know. `from`: the process that told it. */
export function hear(shared: Hearing, event: BusEvent, from: string | undefined): void {
  const { registry, logins, commands, tick } = shared;
  switch (event.type) {
    case "deviceChanged":
      logins.deviceChanged(event.id);
      break;
    case "processesChanged":
      registry.came(event.came);
      registry.missed(event.missed, tick);
      if (event.came.length > 0) announce(shared);
      break;
    case "reachChanged":
      if (from !== undefined) for (const change of event.devices) takenOver(shared, from, change);
      break;
    case "heard":
      if (from !== undefined) for (const { id } of event.devices) registry.heard(id, tick);
      break;
    case "reachWanted":
      if (from !== undefined) registry.release(event.id, event.quietSeconds, tick);
      break;
    case "commandAnswered":
      if (from !== undefined) commands.answered(event.id, event.result);
      break;
    default:
  }
}

/**
 * Another process reaches a device: a connection that it had here ends. A sender of datagrams may come back to us at
 * any time, and stays known.
 */
function takenOver(shared: Hearing, from: string, change: ReachChange): void {
  const by = shared.registry.told(from, change, shared.tick);
  if (by?.transport === "tcp") by.displaced(change.id);
}

/** In pieces, with room for other work between them: what changes meanwhile is told by itself. */
function announce({ registry, deps }: Hearing): void {
  const rest = registry.forThoseWhoCame();
  const go = () => {
    const devices: ReachChange[] = [];
    while (devices.length < announcedAtOnce) {
      const { done, value } = rest.next();
      if (done === true) break;
      devices.push(value);
    }
    if (devices.length > 0) deps.bus.publish({ type: "reachChanged", devices });
    if (devices.length === announcedAtOnce) setImmediate(go);
  };
  go();
}
