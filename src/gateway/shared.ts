import type { DecodeOptions, Transport } from "../wire/protocol.ts";
import type { CommandDesk } from "./commands.ts";
import type { Cors } from "./cors.ts";
import type { Counters } from "./counters.ts";
import type { Knocks } from "./knocks.ts";
import type { GatewayLimits } from "./limits.ts";
import type { Logins } from "./logins.ts";
import type { Registry } from "./registry.ts";
import type { Sources } from "./sources.ts";
import type { GatewayDeps } from "./types.ts";

/** What all connections of a gateway have in common: one object, so that a connection holds one reference. */
export interface Shared {
  readonly deps: GatewayDeps;
  readonly limits: GatewayLimits;
  readonly counters: Counters;
  readonly registry: Registry;
  readonly logins: Logins;
  readonly sources: Sources;
  readonly commands: CommandDesk;
  readonly knocks: Knocks;
  readonly cors: Cors;
  readonly context: ReusedContext;
  /** Begins the names of this start's connections, so that those of two starts differ in the logs. */
  readonly prefix: string;
  /** Whole seconds since the start; moved by the sweep, so that no message asks a clock for its timeouts. */
  tick: number;
  /** Messages whose commit is waited for. */
  inFlight: number;
  /** Bytes that were read and wait, of all connections and UDP peers. */
  buffered: number;
  /** They are too many: no socket is read. */
  full: boolean;
  /** When a trouble of the listeners was last logged, in ticks. */
  warnedAt: number;
  /** No more is read or accepted. */
  stopping: boolean;
}

/**
 * The decode context of the message at hand. Decoding is synchronous and keeps nothing of it, so one object serves all
 * messages.
 */
export interface ReusedContext {
  receivedAt: number;
  transport: Transport;
  identified: boolean;
  options: DecodeOptions;
}

/** Text of an address for people and counting: an IPv4 peer of a dual-stack socket is written as IPv4. */
export function plainAddress(address: string | undefined): string {
  if (address === undefined) return "unknown";
  return address.startsWith("::ffff:") ? address.slice(7) : address;
}

/** Logs a trouble that may come with each connection (no file descriptors left): once a second is enough. */
export function warn(shared: Shared, error: Error, message: string): void {
  if (shared.warnedAt === shared.tick) return;
  shared.warnedAt = shared.tick;
  shared.deps.log.warn({ error }, message);
}
