import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { matchesTrackerSecret } from "../../src/auth/tracker-secret.ts";
import { createGateway, type Gateway, type GatewayLimits } from "../../src/gateway/index.ts";
import {
  createLog,
  createMetrics,
  createQuarantine,
  createTrace,
  systemClock,
  systemIds,
} from "../../src/observe/index.ts";
import type { Bus, BusEvent } from "../../src/ports/bus.ts";
import type { AnyProtocol } from "../../src/wire/protocol.ts";
import { bytesOfLatin1 } from "../../src/wire/reader.ts";
import { atEnd } from "./at-end.ts";
import { fixtureProtocol } from "./fixture-protocol.ts";
import { MemoryIntake } from "./memory-intake.ts";

/** A gateway on a free port (or `at` the given one), with all its parts real but for what is behind the intake. */
export async function startGateway(
  limits: Partial<GatewayLimits> = {},
  protocols: readonly AnyProtocol[] = [fixtureProtocol],
  at = 0,
  corsOrigins = "",
  ports = "",
) {
  const intake = new MemoryIntake();
  const metrics = createMetrics({ processMetrics: false });
  const trace = createTrace(systemClock);
  const quarantine = createQuarantine(systemClock);
  const logged: string[] = [];
  const listeners = new Set<(event: BusEvent) => void>();
  const bus: Bus = {
    publish: (event) =>
      listeners.forEach((listener) => {
        listener(event);
      }),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {},
  };
  const gateway: Gateway = createGateway(
    { host: "127.0.0.1", port: at, limits, corsOrigins, ports },
    {
      protocols,
      intake,
      clock: systemClock,
      ids: systemIds,
      log: createLog("info", { write: (text) => logged.push(text) }),
      metrics,
      trace,
      quarantine,
      bus,
      matchesSecret: matchesTrackerSecret,
    },
  );
  const addresses = await gateway.start();
  const port = addresses[0]?.port ?? 0;
  atEnd(() => gateway.stop());
  return { gateway, port, addresses, intake, metrics, trace, quarantine, bus, logged };
}

/** A peer that a test drives by hand. */
export class Peer {
  readonly socket: Socket;
  /** Resolves when the connection is closed, whoever did it. */
  readonly closed: Promise<void>;
  #received = "";
  #changed: () => void = () => {};
  #isClosed = false;

  /** `from`: its own address, any of the loopback network. */
  constructor(port: number, from = "127.0.0.1") {
    this.socket = connect({ port, host: "127.0.0.1", localAddress: from, noDelay: true });
    this.socket.on("data", (chunk: Buffer) => {
      this.#received += chunk.toString("latin1");
      this.#changed();
    });
    this.socket.on("error", () => {});
    this.closed = new Promise((resolve) => {
      this.socket.on("close", () => {
        this.#isClosed = true;
        this.#changed();
        resolve();
      });
    });
  }

  get received(): string {
    return this.#received;
  }

  send(text: string | Uint8Array): void {
    this.socket.write(text);
  }

  /** Waits until so much was received, and takes it. Throws what was received where the connection ends before. */
  async expect(text: string): Promise<void> {
    while (this.#received.length < text.length && !this.#isClosed)
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    const got = this.#received.slice(0, text.length);
    if (got !== text) throw new Error(`expected ${JSON.stringify(text)}, received ${JSON.stringify(this.#received)}`);
    this.#received = this.#received.slice(text.length);
  }

  end(): void {
    this.socket.destroy();
  }
}

/** The real one, also where a test turns the clock itself. */
const { setTimeout } = globalThis;

/** Whether all tests have ended: a wait in vain must not keep the process alive. */
let over = false;
atEnd(() => {
  over = true;
});

/** Waits until something holds; the test's own time limit ends a wait in vain. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) {
    if (over) throw new Error("the tests are over");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/**
 * Waits until the gateway has read so many bytes of all connections. What they ask for at once is done then: reading
 * and decoding are one step.
 */
export function untilRead(metrics: { text(): Promise<string> }, bytes: number): Promise<void> {
  return until(async () => (await metricOf(metrics, 'waybeam_received_bytes_total{transport="tcp"}')) >= bytes);
}

/** Value of a metric's series, as /metrics shows it; 0 where there is none. */
export async function metricOf(metrics: { text(): Promise<string> }, series: string): Promise<number> {
  const found = (await metrics.text()).split("\n").find((text) => text.startsWith(`${series} `));
  return Number(found?.slice(series.length + 1) ?? 0);
}

/** A gateway with what it stands on. */
export type World = Awaited<ReturnType<typeof startGateway>>;

/** Runs a test against a gateway that knows the device "one", and stops it. */
export function withGateway(name: string, limits: Partial<GatewayLimits>, run: (world: World) => Promise<void>): void {
  test(name, { timeout: 20_000 }, async () => {
    const world = await startGateway(limits);
    world.intake.register("one");
    try {
      await run(world);
    } finally {
      await world.gateway.stop();
    }
    assert.deepEqual(
      world.logged.filter((line) => line.includes("defect")),
      [],
    );
  });
}

/** Times of what was stored of a device, epoch seconds. */
export const times = (world: World, device: string) =>
  (world.intake.stored.get(device) ?? []).map((report) => Number(report.time) / 1000);

/** What a simulated tracker reports where it does not matter what. */
export const simulatedReport = {
  time: 1_700_000_000_000,
  latitude: 4.5,
  longitude: -74.25,
  altitude: 2600,
  speed: 30,
  course: 90,
  satellites: 8,
  ignition: true,
  battery: 70,
};

/** Time that a test waits for a reply which comes, ms. */
export const patient = 5000;

/** Gives a command as text to be wrapped, or as bytes. */
export function command({ gateway }: World, device: string, text: string, waitMs = patient, bytes = false) {
  const outgoing = bytes ? { bytes: bytesOfLatin1(text) } : { encode: text };
  let written = false;
  const dispatched = gateway.dispatcher.dispatch(device, outgoing, waitMs, async () => {
    written = true;
    return true;
  });
  /** Whether it was asked that it may be written. */
  return { dispatched, isWritten: () => written };
}
