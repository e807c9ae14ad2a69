import type { Bus } from "../ports/bus.ts";
import type { TlsOptions } from "../ports/certificate.ts";
import type { Clock } from "../ports/clock.ts";
import type { Dispatcher } from "../ports/dispatcher.ts";
import type { Ids } from "../ports/ids.ts";
import type { Intake } from "../ports/intake.ts";
import type { Log } from "../ports/log.ts";
import type { Metrics } from "../ports/metrics.ts";
import type { Presence } from "../ports/presence.ts";
import type { Quarantine } from "../ports/quarantine.ts";
import type { Trace } from "../ports/trace.ts";
import type { AnyProtocol } from "../wire/protocol.ts";
import type { GatewayLimits } from "./limits.ts";

/** Where the gateway listens, and what it bears. */
export interface GatewayOptions {
  /** Address to listen on; `::` is every address of the machine, IPv6 and IPv4. */
  readonly host: string;
  /** One port for all protocols over TCP, UDP and HTTP; 0 takes one that is free for both TCP and UDP. */
  readonly port: number;
  /** Ports beside it that speak one protocol each, as `ownPortsOf` reads them: `teltonika=5027, gt06=5023`. */
  readonly ports?: string;
  /** Limits that differ from `defaultLimits`. */
  readonly limits?: Partial<GatewayLimits>;
  /** TLS beside plain connections, on the same port; absent: none. */
  readonly tls?: TlsOptions | undefined;
  /** Origins of web pages that may report from a browser, with commas between, or `*`; absent or empty: none. */
  readonly corsOrigins?: string;
}

/** The setting `device.ports` can't be followed. */
export class PortsUnusable extends Error {
  override readonly name = "PortsUnusable";
}

/** What the gateway is made of. */
export interface GatewayDeps {
  /** Every protocol that is spoken, in the order of detection. */
  readonly protocols: readonly AnyProtocol[];
  readonly intake: Intake;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly trace: Trace;
  readonly quarantine: Quarantine;
  /** Whether a tracker's secret is the one with this hash. Takes the same time whatever the secret is. */
  readonly matchesSecret: (secret: string, hash: string) => boolean;
  readonly bus: Bus;
}

/** An address that is listened on. */
export interface BoundAddress {
  readonly transport: "tcp" | "udp";
  readonly host: string;
  readonly port: number;
  /** The protocol that it speaks only; absent: all of them. */
  readonly protocol?: string;
}

/** How many are connected now. */
export interface ConnectionFigures {
  readonly tcp: number;
  /**
   * Those among `tcp` that no registered device is bound to: who did not say yet who it is, and HTTP, where each
   * request says it anew.
   */
  readonly halfOpen: number;
  /** Peers known by their datagrams. */
  readonly udp: number;
  /** Devices that can be reached. */
  readonly devices: number;
}

/** Owner of all device sockets. */
export interface Gateway {
  /**
   * Listens. Rejects where an address can't be had or a port is for no protocol (`PortsUnusable`); nothing is left open
   * then.
   */
  start(): Promise<readonly BoundAddress[]>;
  /**
   * Accepts and reads no more, waits (bounded) for what was submitted, sends the replies that became due, closes. Never
   * rejects.
   */
  stop(): Promise<void>;
  readonly connections: ConnectionFigures;
  /** The way of commands to the devices that are connected here. */
  readonly dispatcher: Dispatcher;
  /** Where devices were last seen. */
  readonly presence: Presence;
}

/** Why a connection ended: the label `cause` of `waybeam_connections_closed_total`. */
export type CloseCause =
  | "peer"
  | "error"
  | "idle"
  | "notIdentified"
  | "unknown"
  | "expired"
  | "barred"
  | "limited"
  | "unavailable"
  | "unknownProtocol"
  | "junk"
  | "unread"
  | "memory"
  | "finished"
  | "full"
  | "halfOpenShare"
  | "perAddress"
  | "replaced"
  | "replacedOften"
  | "slow"
  | "internal"
  | "stopped";
