import type { CommandResult } from "../model/effects.ts";
import type { Clock } from "../ports/clock.ts";
import type { DeviceReply, Dispatched, Dispatcher, Outgoing } from "../ports/dispatcher.ts";
import type { Counter, Metrics } from "../ports/metrics.ts";
import type { Reachable, Registry } from "./registry.ts";

/**
 * How long after the wait is over a reply still is the last command's: a tracker that sleeps between its reports may need minutes, and what
 * comes later is more likely something that it says by itself.
 */
const lateMs = 300_000;

/** A command that was written and whose reply may come. */
interface Outstanding {
  readonly by: Reachable;
  /** Until when a reply is its own, monotonic ms. */
  readonly until: number;
  readonly settle: (reply: DeviceReply | "lost" | "superseded") => void;
}

const notConnected: Dispatched = Object.freeze({ outcome: "notConnected" });

/**
 * Writes commands to the conversations that their devices last spoke on, and gives replies to the command they answer: protocols do not name it,
 * so one is outstanding for each device, and a reply is its. Nothing is kept for devices without commands.
 */
export class CommandDesk implements Dispatcher {
  readonly #registry: Registry;
  readonly #clock: Clock;
  readonly #count: (outcome: Dispatched["outcome"]) => Counter;
  /** The last command of each device that has any under way. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #outstanding = new Map<string, Outstanding>();
  readonly #listeners: ((device: string) => void)[] = [];
  #stopped = false;

  constructor(registry: Registry, clock: Clock, metrics: Metrics) {
    this.#registry = registry;
    this.#clock = clock;
    const counter = metrics.counter(
      "waybeam_commands_total",
      "Commands given to connections, by what became of them.",
      ["outcome"],
    );
    this.#count = (outcome) => counter({ outcome });
  }

  dispatch(
    device: string,
    outgoing: Outgoing,
    waitMs: number,
    beforeWrite: () => Promise<boolean>,
  ): Promise<Dispatched> {
    const send = () => this.#send(device, outgoing, waitMs, beforeWrite);
    const mine = (this.#turns.get(device) ?? Promise.resolve()).then(send, send);
    this.#turns.set(device, mine);
    const done = () => {
      if (this.#turns.get(device) === mine) this.#turns.delete(device);
    };
    mine.then((dispatched) => {
      this.#count(dispatched.outcome).add(1);
      done();
    }, done);
    return mine;
  }

  onReachable(listener: (device: string) => void): void {
    this.#listeners.push(listener);
  }

  /** The device said who it is, and was answered. */
  reached(device: string): void {
    if (!this.#stopped) for (const listener of this.#listeners) listener(device);
  }

  /** The device answered. False: nothing was asked of it. */
  answered(device: string, { text, ok }: CommandResult): boolean {
    const outstanding = this.#outstanding.get(device);
    if (outstanding === undefined) return false;
    this.#outstanding.delete(device);
    const timely = this.#clock.monotonic() <= outstanding.until;
    outstanding.settle(timely ? { text, ...(ok !== undefined && { ok }) } : "superseded");
    return timely;
  }

  /** The conversation is the device's no longer. */
  left(device: string, by: Reachable): void {
    const outstanding = this.#outstanding.get(device);
    if (outstanding?.by !== by) return;
    this.#outstanding.delete(device);
    outstanding.settle("lost");
  }

  /** Commands whose reply is waited for. */
  get waiting(): number {
    return this.#outstanding.size;
  }

  /** Forgets commands whose reply comes no more. */
  sweep(): void {
    const now = this.#clock.monotonic();
    for (const [device, { until, settle }] of this.#outstanding) {
      if (now <= until) continue;
      this.#outstanding.delete(device);
      settle("superseded");
    }
  }

  /** Nothing more is written. */
  stop(): void {
    this.#stopped = true;
  }

  async #send(
    device: string,
    outgoing: Outgoing,
    waitMs: number,
    beforeWrite: () => Promise<boolean>,
  ): Promise<Dispatched> {
    const by = this.#registry.find(device);
    if (by === undefined || !(await by.speaksFor(device))) return notConnected;
    // It may have ended meanwhile, or the device speaks elsewhere.
    if (this.#registry.find(device) !== by || this.#stopped) return notConnected;
    const bytes = "bytes" in outgoing ? outgoing.bytes : by.encode(outgoing.encode, device);
    if (bytes === "otherSpeaks") return notConnected;
    if (bytes === "noForm") return { outcome: "noForm" };
    if ("refused" in bytes) return { outcome: "refused", reason: bytes.refused };
    if (!(await beforeWrite())) return { outcome: "withheld" };
    if (this.#registry.find(device) !== by) return notConnected;
    return this.#write(device, by, bytes, waitMs);
  }

  async #write(device: string, by: Reachable, bytes: Uint8Array, waitMs: number): Promise<Dispatched> {
    // Whose reply would come now, nobody could tell: it is the newer command's.
    this.#outstanding.get(device)?.settle("superseded");
    const reply = Promise.withResolvers<DeviceReply | "lost" | "superseded">();
    const until = this.#clock.monotonic() + waitMs + lateMs;
    if (by.replies) this.#outstanding.set(device, { by, until, settle: reply.resolve });
    else reply.resolve("superseded");
    by.write(bytes);
    const wait = Promise.withResolvers<"late">();
    const timer = setTimeout(wait.resolve, waitMs, "late");
    const first = await Promise.race([reply.promise, wait.promise]);
    clearTimeout(timer);
    if (first === "lost") return { outcome: "lost" };
    if (typeof first === "object") return { outcome: "answered", ...first };
    return { outcome: "sent", later: reply.promise.then((late) => (typeof late === "object" ? late : undefined)) };
  }
}
