import type { SpokenWay } from "../model/device.ts";
import type { Admitted } from "../ports/intake.ts";
import { besides } from "./logins.ts";
import type { Elsewhere, Reachable } from "./registry.ts";
import type { Shared } from "./shared.ts";
import type { Speaker } from "./speaker.ts";

/**
 * Whether a device that logs in on a conversation is reached there from now on; where not, it is heard there, and its
 * commands go on to the conversation that it had before (decision 0016). One place decides, for commands and for the
 * ending of older connections alike.
 *
 * - While the device has a TCP connection, no datagram takes over: its sender's address can be anybody's invention.
 * - Between datagrams of two addresses, the newer sender must go on for a while in which the older one says nothing:
 *   one datagram is not enough.
 * - A protocol and transport that the device never spoke take over once they are trusted (`isTrusted`).
 *
 * The same holds where another process has the conversation before. Whether the older sender is silent only that
 * process knows, and is asked to let go of the device.
 */
function takesOver(shared: Shared, device: Admitted, by: Reachable): boolean {
  const { registry, deps, tick, limits } = shared;
  const { protocol, transport, address } = by;
  const way = deps.intake.spoke(device, { protocol: protocol.id, transport, address });
  registry.seen(device, { protocol: protocol.id, transport, address, at: deps.clock.now() });
  if (transport === "http") return false;
  const present = registry.find(device.id);
  if (present === by) return true;
  if (present !== undefined && transport === "udp") {
    if (present.transport === "tcp") return false;
    const silent = present.heardAt < by.since && tick - by.since >= limits.movedSeconds;
    if (present.address !== address && !silent) return false;
  }
  const other = registry.elsewhere(device.id);
  if (other !== undefined && transport === "udp") {
    if (other.transport === "tcp") return false;
    if (other.address !== address) {
      askForIt(shared, device.id, by, other);
      return false;
    }
  }
  return isTrusted(shared, device, way, present === undefined && other === undefined);
}

/** Asks the process that reaches a device whether the sender there is silent. */
function askForIt({ deps, tick, limits }: Shared, id: string, by: Reachable, other: Elsewhere): void {
  const quietSeconds = tick - by.since;
  if (quietSeconds < limits.movedSeconds || tick === other.askedAt) return;
  other.askedAt = tick;
  deps.bus.publish({ type: "reachWanted", id, quietSeconds });
}

/**
 * Whether a device's commands may go this way: it spoke so first, or its account names its protocols or asks a secret,
 * so that whoever is let in is right; or the device was really exchanged: no other conversation of it was there for an
 * hour, and the new way is that old.
 */
function isTrusted(
  { deps, registry, tick, limits }: Shared,
  device: Admitted,
  way: SpokenWay,
  isAlone: boolean,
): boolean {
  if (way.trustedAt !== null) return true;
  const { guard } = device;
  const now = deps.clock.now();
  const alone =
    isAlone &&
    tick - registry.leftAt(device.id) >= limits.exchangedSeconds &&
    now - way.since >= limits.exchangedSeconds * 1000;
  if (guard?.protocols === undefined && guard?.secretHash === undefined && !alone) return false;
  deps.intake.trust(device, way);
  return true;
}

/**
 * Whether a conversation may be its device's way by now: the device is only heard there, or its datagrams before this
 * one went to another process.
 */
export function mayBeReached({ registry, tick }: Shared, by: Reachable, speaker: Speaker): boolean {
  if (speaker.besides !== undefined) return true;
  const id = speaker.device?.id;
  if (id === undefined || by.transport !== "udp" || registry.find(id) !== undefined) return false;
  return registry.elsewhere(id)?.since !== tick;
}

/**
 * A device says on a conversation who it is: it is reached there from now on, and not on the one that it had before; or
 * is only heard there (`besides`); or its connections end each other too often, and the one that is there stays
 * (`turned out`).
 */
export function logIn(
  shared: Shared,
  by: Reachable,
  speaker: Speaker,
  device: Admitted,
): "reached" | "besides" | "turned out" {
  const { id } = device;
  const takes = takesOver(shared, device, by);
  const { transport, address } = by;
  if (!takes) shared.registry.tellSeen(id);
  if (transport === "http") return "besides";
  const place = takes ? id : besides(id);
  if (place === speaker.besides) return "besides";
  const displaces = takes && shared.registry.elsewhere(id)?.transport === "tcp";
  const entered = shared.logins.enter(place, by, transport, shared.tick, displaces);
  if (entered !== "entered") {
    if (entered.first)
      shared.deps.log.warn({ device: id, address }, "connections log in as one device and end each other");
    return "turned out";
  }
  speaker.leaveBesides(by, shared);
  if (takes) speaker.reach(id, by, shared);
  else speaker.besides = place;
  return takes ? "reached" : "besides";
}
