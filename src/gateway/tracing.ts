import { effectJson } from "../model/effect-json.ts";
import type { Effect } from "../model/effects.ts";
import type { AnyProtocol } from "../wire/protocol.ts";
import type { Channel } from "./channel.ts";
import type { Exchange, Traced } from "./exchange.ts";
import type { Shared } from "./shared.ts";

/** Bytes of a message that a trace shows: more than any tracker's usual one. */
const tracedBytes = 4096;
/** Effects of a message that a trace shows. */
const tracedEffects = 64;

/** An effect as a trace may show it. */
function masked(effect: Effect): Effect {
  return effect.type === "identify" && effect.secret !== undefined ? { ...effect, secret: "***" } : effect;
}

/** Writes down what a traced device sent and what became of it. */
export function addTrace(
  shared: Shared,
  channel: Channel,
  protocol: AnyProtocol,
  exchange: Exchange,
  { device, message, effects }: Traced,
): void {
  shared.deps.trace.add(device, {
    time: exchange.receivedAt,
    connection: channel.id,
    protocol: protocol.id,
    address: channel.address,
    message: (protocol.secret?.mask(message) ?? message).subarray(0, tracedBytes).toHex(),
    cut: message.length > tracedBytes || effects.length > tracedEffects,
    effects: effects.slice(0, tracedEffects).map((effect: Effect) => effectJson(masked(effect))),
    outcome: exchange.outcome,
  });
}
