import assert from "node:assert/strict";
import type { CommandQueueContext } from "../../src/domain/command-queue.ts";
import { CommandsUnderWay } from "../../src/domain/command-under-way.ts";
import type { Device } from "../../src/model/device.ts";
import type { NewCommand } from "../../src/ports/command-store.ts";
import type { Dispatched, Dispatcher, Outgoing } from "../../src/ports/dispatcher.ts";
import type { Store } from "../../src/ports/store.ts";
import { newCommand } from "../contract/store/harness.ts";
import { createMemoryBus } from "./bus.ts";
import type { TestClock } from "./rest.ts";
import { silentLog } from "./silent-log.ts";
import { userOf } from "./users.ts";

/** A device whose connection does what the test says. */
export class TestLink implements Dispatcher {
  connected = false;
  answers: readonly Dispatched[] = [];
  readonly written: string[] = [];
  /** What happens while a command waits for something before it is written. */
  meanwhile: () => void = () => {};
  /** Whether a command may still be written. */
  inTime: (text: string) => boolean = () => true;
  #at = 0;
  #reachable: (device: string) => void = () => {};

  async dispatch(
    _device: string,
    outgoing: Outgoing,
    _waitMs: number,
    beforeWrite: () => Promise<boolean>,
  ): Promise<Dispatched> {
    await new Promise((resolve) => setImmediate(resolve));
    this.meanwhile();
    if (!this.connected) return { outcome: "notConnected" };
    const answer = this.answers[this.#at++ % this.answers.length] ?? { outcome: "noForm" };
    if (answer.outcome === "notConnected" || answer.outcome === "noForm" || answer.outcome === "refused") return answer;
    if (!(await beforeWrite())) return { outcome: "withheld" };
    if (!this.connected) return { outcome: "notConnected" };
    const text = "encode" in outgoing ? outgoing.encode : Buffer.from(outgoing.bytes).toString();
    assert.ok(this.inTime(text), `${text} was written after its time`);
    this.written.push(text);
    if (answer.outcome === "lost") this.connected = false;
    return answer;
  }

  onReachable(listener: (device: string) => void): void {
    this.#reachable = listener;
  }

  /** Devices that another process reaches. */
  readonly elsewhere = new Set<string>();
  #moved: (device: string) => void = () => {};

  where(device: string): "here" | "elsewhere" | "nowhere" {
    if (this.connected) return "here";
    return this.elsewhere.has(device) ? "elsewhere" : "nowhere";
  }

  onElsewhere(listener: (device: string) => void): void {
    this.#moved = listener;
  }

  /** Another process reaches the device no longer. */
  leave(device: string): void {
    this.elsewhere.delete(device);
    this.#moved(device);
  }

  reach(device: string): void {
    this.connected = true;
    this.#reachable(device);
  }
}

/** Who sends the commands; what one that lost the right queued is another test's matter. */
const sender = userOf({ owner: true, privileges: ["admin"] });

/** A command that nobody has tried to send. */
export function queuedCommand(device: number, clock: TestClock, command: string, ttl: number): NewCommand {
  const creation = clock.now();
  return newCommand(device, { command, creation, expires: creation + ttl });
}

/** The store's commands, stepped in the test's own way. */
export function stepping(real: Store["commands"], step: Store["commands"]["step"]): Store["commands"] {
  return {
    create: (...input) => real.create(...input),
    enqueue: (...input) => real.enqueue(...input),
    find: (...input) => real.find(...input),
    findByIdempotencyKey: (...input) => real.findByIdempotencyKey(...input),
    list: (...input) => real.list(...input),
    page: (...input) => real.page(...input),
    queued: (...input) => real.queued(...input),
    step,
    receipt: (...input) => real.receipt(...input),
    waitingDevices: (...input) => real.waitingDevices(...input),
    deleteEnded: (...input) => real.deleteEnded(...input),
    expire: (...input) => real.expire(...input),
    nextExpiry: () => real.nextExpiry(),
  };
}

/** What a queue of commands to one device works with. */
export function queueContext(
  device: Device,
  dispatcher: Dispatcher,
  clock: TestClock,
  { devices, commands }: Pick<CommandQueueContext["store"], "devices" | "commands">,
): CommandQueueContext {
  const bus = createMemoryBus();
  return {
    store: { devices, commands, users: { findByKey: async () => sender } },
    devices: { find: async () => device },
    dispatcher,
    bus,
    clock,
    log: silentLog,
    underWay: new CommandsUnderWay(bus, clock),
    waitMs: 1,
  };
}
