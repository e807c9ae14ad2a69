import type { BusEvent, ReachChange } from "../ports/bus.ts";
import type { Shared } from "./shared.ts";

/** Devices of one event, for processes that have come. */
const announcedAtOnce = 500;

/** What the bus says that connections must know. `from`: the process that told it. */
export function hear(shared: Shared, event: BusEvent, from: string | undefined): void {
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

/** Another process reaches a device: a connection that it had here ends. A sender of datagrams may come back to us at any time, and stays known. */
function takenOver(shared: Shared, from: string, change: ReachChange): void {
  const by = shared.registry.told(from, change, shared.tick);
  if (by?.transport === "tcp") by.displaced(change.id);
}

function announce({ registry, deps }: Shared): void {
  const devices = [...registry.forThoseWhoCame()];
  for (let at = 0; at < devices.length; at += announcedAtOnce)
    deps.bus.publish({ type: "reachChanged", devices: devices.slice(at, at + announcedAtOnce) });
}
