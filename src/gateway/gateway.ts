import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { ownPortsOf } from "../model/own-ports.ts";
import type { Dispatcher } from "../ports/dispatcher.ts";
import type { Presence } from "../ports/presence.ts";
import { CommandDesk } from "./commands.ts";
import { Cors } from "./cors.ts";
import { createCounters } from "./counters.ts";
import { hear } from "./hearing.ts";
import { Knocks } from "./knocks.ts";
import { defaultLimits } from "./limits.ts";
import { Logins } from "./logins.ts";
import { Registry } from "./registry.ts";
import type { Shared } from "./shared.ts";
import { Sources } from "./sources.ts";
import type { TcpConnection } from "./tcp-connection.ts";
import { TcpListener } from "./tcp-listener.ts";
import {
  type BoundAddress,
  type ConnectionFigures,
  type Gateway,
  type GatewayDeps,
  type GatewayOptions,
  PortsUnusable,
} from "./types.ts";
import { UdpListener } from "./udp-listener.ts";

/** How often a free port is looked for that TCP and UDP both can have. */
const portAttempts = 10;
/** How often `stop` looks whether all is settled, ms. */
const stopPollMs = 10;
/** Time that peers have to take their last replies, ms. */
const lastRepliesMs = 1000;

/** A gateway that does not listen yet. */
export function createGateway(options: GatewayOptions, deps: GatewayDeps): Gateway {
  return new SocketGateway(options, deps);
}

class SocketGateway implements Gateway {
  readonly #options: GatewayOptions;
  readonly #shared: Shared;
  #tcp: TcpListener | undefined;
  #udp: UdpListener | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #unsubscribe: () => void;
  #stopped: Promise<void> | undefined;

  constructor(options: GatewayOptions, deps: GatewayDeps) {
    this.#options = options;
    const limits = { ...defaultLimits, ...options.limits };
    const registry = new Registry({
      now: () => deps.clock.now(),
      fraction: Buffer.from(deps.ids.secret(3), "base64url").readUIntBE(0, 3) / 2 ** 24,
      tell: (devices) => deps.bus.publish({ type: "reachChanged", devices }),
    });
    this.#shared = {
      deps,
      limits,
      counters: createCounters(deps.metrics),
      registry,
      logins: new Logins(limits),
      sources: new Sources(),
      commands: new CommandDesk(registry, deps.clock, deps.metrics),
      knocks: new Knocks(limits.knocksPerMinute),
      cors: new Cors(options.corsOrigins ?? ""),
      context: { receivedAt: 0, transport: "tcp", identified: false, options: {} },
      prefix: deps.ids.secret(3),
      tick: 0,
      inFlight: 0,
      buffered: 0,
      full: false,
      warnedAt: -1,
      stopping: false,
    };
    this.#unsubscribe = deps.bus.subscribe((event, from) => hear(this.#shared, event, from));
    deps.metrics.gauge("waybeam_connections", "TCP connections of trackers.", () => this.connections.tcp);
    deps.metrics.gauge(
      "waybeam_connections_half_open",
      "Connections without a known device, and those that speak HTTP.",
      () => this.connections.halfOpen,
    );
    deps.metrics.gauge("waybeam_udp_sessions", "UDP peers that are remembered.", () => this.connections.udp);
    deps.metrics.gauge("waybeam_devices_connected", "Devices that can be reached.", () => this.connections.devices);
    deps.metrics.gauge(
      "waybeam_messages_in_flight",
      "Messages that wait for their commit.",
      () => this.#shared.inFlight,
    );
    deps.metrics.gauge("waybeam_buffered_bytes", "Bytes that were read and wait.", () => this.#shared.buffered);
  }

  get connections(): ConnectionFigures {
    return {
      tcp: this.#tcp?.size ?? 0,
      halfOpen: this.#tcp?.halfOpen ?? 0,
      udp: this.#udp?.size ?? 0,
      devices: this.#shared.registry.size,
    };
  }

  get presence(): Presence {
    const { registry, deps } = this.#shared;
    return {
      lastSeen: (device) => registry.lastSeen(device),
      contact: (device) => registry.contact(device, this.#shared.tick, deps.clock.now()),
      onChange: (listener) => registry.onChange(listener),
    };
  }

  get dispatcher(): Dispatcher {
    return this.#shared.commands;
  }

  async start(): Promise<readonly BoundAddress[]> {
    const addresses = await this.#listen();
    const { intake } = this.#shared.deps;
    intake.onDrained(() => {
      this.#tcp?.drained();
      this.#udp?.drained();
    });
    this.#timer = setInterval(() => this.#tick(), 1000);
    return addresses;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const shared = this.#shared;
    shared.stopping = true;
    shared.commands.stop();
    this.#tcp?.stopReading();
    const polls = (shared.limits.stopSeconds * 1000) / stopPollMs;
    for (let poll = 0; shared.inFlight > 0 && poll < polls; poll++) await delay(stopPollMs);
    if (shared.inFlight > 0)
      shared.deps.log.warn({ messages: shared.inFlight }, "stopped before all was stored; it is not acknowledged");
    this.#udp?.close();
    this.#tcp?.closeAll();
    for (let poll = 0; this.connections.tcp > 0 && poll < lastRepliesMs / stopPollMs; poll++) await delay(stopPollMs);
    this.#tcp?.destroyAll();
    clearInterval(this.#timer);
    this.#unsubscribe();
  }

  /** Takes all ports, or none where one of them can't be had. */
  async #listen(): Promise<readonly BoundAddress[]> {
    const { host, port } = this.#options;
    const { protocols } = this.#shared.deps;
    const guard = await this.#tlsGuard();
    for (let attempt = 1; ; attempt++) {
      const tcp = new TcpListener(this.#shared, guard);
      const udp = new UdpListener(this.#shared, host);
      try {
        // Any port means one that TCP and UDP both can have.
        const bound = await tcp.listen(host, port, protocols);
        await udp.listen(bound, protocols);
        const own = await this.#listenToOne(tcp, udp);
        this.#tcp = tcp;
        this.#udp = udp;
        return [{ transport: "tcp", host, port: bound }, { transport: "udp", host, port: bound }, ...own];
      } catch (error) {
        tcp.closeAll();
        udp.close();
        if (port !== 0 || attempt === portAttempts) throw error;
      }
    }
  }

  /** Takes the ports that speak one protocol each, over the transports that it has; HTTP is read over TCP. */
  async #listenToOne(tcp: TcpListener, udp: UdpListener): Promise<readonly BoundAddress[]> {
    const { host, ports = "" } = this.#options;
    const addresses: BoundAddress[] = [];
    for (const [id, port] of ownPortsOf(ports) ?? []) {
      const protocol = this.#shared.deps.protocols.find((each) => each.id === id);
      if (protocol === undefined) throw new PortsUnusable(`device.ports: there is no protocol ${id}`);
      let bound = port;
      if (protocol.transports.some((transport) => transport !== "udp")) {
        bound = await tcp.listen(host, port, [protocol]);
        addresses.push({ transport: "tcp", host, port: bound, protocol: id });
      }
      if (protocol.transports.includes("udp"))
        addresses.push({ transport: "udp", host, port: await udp.listen(bound, [protocol]), protocol: id });
    }
    return addresses;
  }

  /** Loaded where there is a certificate. */
  async #tlsGuard(): Promise<((socket: Socket, connection: TcpConnection) => void) | undefined> {
    const { tls } = this.#options;
    if (tls === undefined) return undefined;
    const { TlsDoor, TlsPort } = await import("./tls-port.ts");
    const port = new TlsPort(tls);
    return (socket, connection) => void new TlsDoor(port, socket, connection);
  }

  #tick(): void {
    this.#shared.tick++;
    try {
      this.#tcp?.sweep();
      this.#udp?.sweep();
      this.#shared.commands.sweep();
    } catch (error) {
      this.#shared.deps.log.error({ error }, "defect");
    }
  }
}
