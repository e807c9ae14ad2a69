import type { CommandResult } from "../model/effects.ts";
import type { Clock } from "../ports/clock.ts";
import type { DeviceReply, Dispatched, Dispatcher, Outgoing } from "../ports/dispatcher.ts";
import type { Counter, Metrics } from "../ports/metrics.ts";
import type { Reachable, Registry } from "./registry.ts";
import { ReplyMatcher } from "./reply-matcher.ts";

/**
 * How long after the wait is over a reply may still be the command's: a tracker that sleeps between its reports may
 * need minutes, and what comes later is more likely something that it says by itself.
 */
const lateMs = 300_000;

/** A command that was written and whose reply may come. */
interface Outstanding {
  /** Until when a reply is its own, monotonic ms. */
  readonly until: number;
  readonly settle: (reply: DeviceReply | "lost" | "given up") => void;
}

/** What a device was asked on the conversation that it speaks on. */
interface Asked {
  readonly by: Reachable;
  readonly matcher: ReplyMatcher<Outstanding, DeviceReply>;
}

const notConnected: Dispatched = Object.freeze({ outcome: "notConnected" });

/**
 * Writes commands to the conversations that their devices last spoke on, and gives replies to the commands they answer:
 * to the one whose name they say, else in order as far as that can be told (`reply-matcher.ts`). Nothing is kept for
 * devices without commands.
 */
export class CommandDesk implements Dispatcher {
  readonly #registry: Registry;
  readonly #clock: Clock;
  readonly #count: (outcome: Dispatched["outcome"]) => Counter;
  /** The last command of each device that has any under way. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #asked = new Map<string, Asked>();
  readonly #listeners: ((device: string) => void)[] = [];
  /**
   * The last command's mark. It starts with the clock, so that a reply to a command before a restart names none of
   * those after it.
   */
  #mark: number;
  #stopped = false;

  constructor(registry: Registry, clock: Clock, metrics: Metrics) {
    this.#registry = registry;
    this.#clock = clock;
    this.#mark = clock.now() >>> 0;
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

  where(device: string): "here" | "elsewhere" | "nowhere" {
    if (this.#registry.find(device) !== undefined) return "here";
    return this.#registry.elsewhere(device) === undefined ? "nowhere" : "elsewhere";
  }

  onElsewhere(listener: (device: string) => void): void {
    this.#registry.onChange(listener);
  }

  /** The device said who it is, and was answered. */
  reached(device: string): void {
    if (!this.#stopped) for (const listener of this.#listeners) listener(device);
  }

  /** The device answered, on this conversation, or to another process. False: nothing was asked of it there. */
  answered(device: string, { text, ok, to }: CommandResult, by?: Reachable): boolean {
    const asked = this.#asked.get(device);
    // A name is one wherever it is said; without one the order counts, which is that of the conversation.
    if (asked === undefined || (asked.by !== by && to === undefined)) return false;
    this.#giveUp(asked);
    const matches = asked.matcher.replied({ text, ...(ok !== undefined && { ok }) }, to);
    for (const { command, reply } of matches) command.settle(reply);
    if (!asked.matcher.waits) this.#asked.delete(device);
    return true;
  }

  /** The conversation is the device's no longer. */
  left(device: string, by: Reachable): void {
    const asked = this.#asked.get(device);
    if (asked?.by !== by) return;
    this.#asked.delete(device);
    for (const { settle } of asked.matcher.commands) settle("lost");
  }

  /** Commands whose reply is waited for. */
  get waiting(): number {
    let waiting = 0;
    for (const { matcher } of this.#asked.values()) waiting += matcher.commands.length;
    return waiting;
  }

  /** Forgets commands whose reply comes no more. */
  sweep(): void {
    for (const [device, asked] of this.#asked) {
      this.#giveUp(asked);
      if (!asked.matcher.waits) this.#asked.delete(device);
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
    const bytes = "bytes" in outgoing ? outgoing.bytes : by.encode(outgoing.encode, device, this.#nextMark());
    if (bytes === "otherSpeaks") return notConnected;
    if (bytes === "noForm") return { outcome: "noForm" };
    if ("refused" in bytes) return { outcome: "refused", reason: bytes.refused };
    if (!(await beforeWrite())) return { outcome: "withheld" };
    if (this.#registry.find(device) !== by) return notConnected;
    return this.#write(device, by, bytes, waitMs);
  }

  async #write(device: string, by: Reachable, bytes: Uint8Array, waitMs: number): Promise<Dispatched> {
    const reply = Promise.withResolvers<DeviceReply | "lost" | "given up">();
    const until = this.#clock.monotonic() + waitMs + lateMs;
    const outstanding: Outstanding = { until, settle: reply.resolve };
    const expected = by.expects(bytes);
    const asked = expected === "nothing" ? undefined : this.#askedOf(device, by);
    if (expected === "nothing") reply.resolve("given up");
    else asked?.matcher.written(outstanding, expected.name);
    by.write(bytes);
    const wait = Promise.withResolvers<"late">();
    const timer = setTimeout(wait.resolve, waitMs, "late");
    const first = await Promise.race([reply.promise, wait.promise]);
    clearTimeout(timer);
    if (first === "lost") return { outcome: "lost" };
    if (typeof first === "object") return { outcome: "answered", ...first };
    const unclear = asked?.matcher.unclear(outstanding);
    return {
      outcome: "sent",
      ...(unclear && { unclear: unclear.text }),
      later: reply.promise.then((late) => (typeof late === "object" ? late : undefined)),
    };
  }

  /** What the device was asked on this conversation; what it was asked on another is given up. */
  #askedOf(device: string, by: Reachable): Asked {
    const before = this.#asked.get(device);
    if (before?.by === by) return before;
    for (const { settle } of before?.matcher.commands ?? []) settle("given up");
    const asked: Asked = { by, matcher: new ReplyMatcher() };
    this.#asked.set(device, asked);
    return asked;
  }

  #giveUp({ matcher }: Asked): void {
    const now = this.#clock.monotonic();
    for (const outstanding of matcher.commands) {
      if (now <= outstanding.until) continue;
      matcher.forget(outstanding);
      outstanding.settle("given up");
    }
  }

  #nextMark(): number {
    this.#mark = (this.#mark + 1) >>> 0 || 1;
    return this.#mark;
  }
}
