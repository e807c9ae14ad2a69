import { ApiError } from "../errors/catalogue.ts";
import type { Command } from "../model/command.ts";
import type { Device } from "../model/device.ts";
import type { Bus, BusEvent } from "../ports/bus.ts";
import type { Clock, ClockTrust } from "../ports/clock.ts";
import type { CommandChange, MadeCommand, NewCommand } from "../ports/command-store.ts";
import type { DeviceReply, Dispatched, Dispatcher, Outgoing } from "../ports/dispatcher.ts";
import type { Log } from "../ports/log.ts";
import type { Store } from "../ports/store.ts";
import { OutcomesElsewhere } from "./command-elsewhere.ts";
import { CommandExpiry } from "./command-expiry.ts";
import {
  connectionLost,
  deviceExpired,
  deviceRefused,
  endedBefore,
  expiredMeanwhile,
  noForm,
  notConnected,
  unclearReply,
  unknownOutcome,
} from "./command-outcome.ts";
import { payloadOf } from "./command-payload.ts";
import { type CommandRightsContext, cancelWithoutRight } from "./command-rights.ts";
import type { CommandsUnderWay } from "./command-under-way.ts";
import { WaitingDevices } from "./command-waiting.ts";
import { createLocks } from "./locks.ts";

/** Time after which it is asked again for which devices commands wait, where they were too many to remember, ms. */
const lookAgainMs = 60_000;

/** What the queue needs of the service. */
export interface CommandQueueContext extends CommandRightsContext {
  readonly store: Pick<Store, "commands"> & {
    readonly devices: Pick<Store["devices"], "find" | "findByKey">;
  } & CommandRightsContext["store"];
  readonly dispatcher: Dispatcher;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly clockTrust?: ClockTrust | undefined;
  readonly log: Log;
  readonly underWay: CommandsUnderWay;
  /** How long a reply is waited for. */
  readonly waitMs: number;
}

type Target = Pick<Device, "key" | "id" | "expires">;
type Made = MadeCommand | "missing";
/** Whether any that were queued are left: none, some may be, or those from some command on: there is no connection. */
type Left = "none" | "some" | "all";

/** A command that must not wait for a connection. */
export interface Sending {
  /** Its record. Rejects with `requestTimeout` where its turn does not come in time: nothing is sent then. */
  readonly made: Promise<Made>;
  /** Resolves when what became of it is recorded. */
  readonly done: Promise<void>;
}

const everything = Number.MAX_SAFE_INTEGER;
/**
 * Wait for the answer to bytes from the queue that no request waits for any longer, ms: many trackers answer them with
 * nothing, and one that connects for seconds should get all that is queued. A later answer is recorded all the same.
 */
const queuedRawWaitMs = 500;

/**
 * Commands over the data connection, those of one device one after the other.
 *
 * A command stays queued until its connection is about to write it. Then it is recorded as sent, by a compare-and-set,
 * with a failure that says that its outcome is unknown; what became of it replaces that. So whenever the service is
 * killed, none is ever written twice, and a record that nobody could finish says so.
 */
export class CommandQueue {
  readonly #context: CommandQueueContext;
  readonly #expiry: CommandExpiry;
  readonly #waiting: WaitingDevices;
  readonly #alone = createLocks<number>();
  /** Until when a request waits for each of these commands, by its key: monotonic ms. */
  readonly #awaited = new Map<number, number>();
  /** Work under way; `stop` waits for it. */
  readonly #running = new Set<Promise<unknown>>();
  readonly #elsewhere: OutcomesElsewhere;
  readonly #unsubscribe: () => void;
  #lookedAt = 0;
  #stopped = false;

  constructor(context: CommandQueueContext) {
    this.#context = context;
    const { commands } = context.store;
    this.#waiting = new WaitingDevices(commands);
    this.#expiry = new CommandExpiry(commands, context, () => this.#look());
    context.dispatcher.onReachable((device) => this.#reached(device));
    this.#elsewhere = new OutcomesElsewhere(context);
    this.#unsubscribe = context.bus.subscribe((event, from) => this.#hear(event, from));
  }

  start(): void {
    this.#look();
    this.#expiry.start();
  }

  /** Nothing more is sent; what was written is recorded as it stands. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe();
    this.#elsewhere.stop();
    await this.#expiry.stop();
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  /** A command was recorded as queued: it is sent after those before it, at once where the device is connected. */
  send(device: Target, command: Command): Promise<void> {
    const { clock, waitMs } = this.#context;
    this.#waiting.add(device.id);
    this.#expiry.add(command.expires);
    this.#awaited.set(command.key, clock.monotonic() + waitMs);
    return this.finished(device, command).finally(() => this.#awaited.delete(command.key));
  }

  /** Resolves when the command and those before it are not under way. */
  finished(device: Target, command: Command): Promise<void> {
    const drain = async () => void (await this.#drain(device, command.key));
    const drained = () => this.#track(this.#alone(device.key, drain));
    return this.#elsewhere.after(drained, device, command);
  }

  /**
   * Sends one that must not wait for a connection, after all that are queued, if its turn comes within `turnMs`; `make`
   * records it.
   */
  sendNow(
    device: Target,
    turnMs: number,
    make: (sent: Pick<Command, "state" | "sentAt" | "failure">) => Promise<Made>,
  ): Sending {
    const { clock } = this.#context;
    const record = Promise.withResolvers<Made>();
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      const reason = "earlier commands to the device are being answered; this request sent nothing";
      record.reject(new ApiError("requestTimeout", [reason]));
    }, turnMs);
    const work = async () => {
      const left = late ? "none" : await this.#drain(device, everything);
      if (late) return;
      clearTimeout(timer);
      const made = await make({ state: "sent", sentAt: clock.now(), failure: unknownOutcome });
      record.resolve(made);
      if (made === "missing" || made.existing) return;
      // A connection that has come since takes those before it first.
      if (left === "all")
        await this.#context.underWay.run(made.command.id, () =>
          this.#record(device, made.command, { outcome: "notConnected" }, "sent"),
        );
      else await this.#deliver(device, made.command);
    };
    const done = this.#track(this.#alone(device.key, work)).finally(() => clearTimeout(timer));
    done.catch(record.reject);
    return { made: record.promise, done };
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const settled = work.then(
      () => {},
      () => {},
    );
    this.#running.add(settled);
    void settled.then(() => this.#running.delete(settled));
    return work;
  }

  #hear(event: BusEvent, from: string | undefined): void {
    // Its commands wait under the new id from now on.
    if (event.type === "deviceChanged" && event.formerId !== undefined) this.#waiting.add(event.id);
    if (event.type === "commandChanged" && from !== undefined) this.#queuedElsewhere(event.command);
    // Who is missed may have told nothing of its last command.
    if (event.type === "processesChanged") this.#look(() => this.#drainHere());
  }

  /** Another process queued a command. */
  #queuedElsewhere(command: Command): void {
    const { store, dispatcher, clock, log, waitMs } = this.#context;
    if (this.#stopped || command.state !== "queued" || command.channel !== "data") return;
    this.#expiry.add(command.expires);
    const send = async () => {
      const device = await store.devices.findByKey(command.device);
      if (device === undefined) return;
      this.#waiting.add(device.id);
      if (dispatcher.where(device.id) !== "here") return;
      // Its request waits there.
      this.#awaited.set(command.key, clock.monotonic() + waitMs);
      await this.#alone(device.key, () => this.#drain(device, everything)).finally(() =>
        this.#awaited.delete(command.key),
      );
    };
    this.#track(send()).catch((error: unknown) =>
      log.warn({ command: command.id, error }, "a command that another process queued could not be sent"),
    );
  }

  #drainHere(): void {
    const { dispatcher } = this.#context;
    for (const id of this.#waiting.ids) if (dispatcher.where(id) === "here") this.#reached(id);
  }

  #reached(id: string): void {
    if (this.#stopped || !this.#waiting.has(id)) return;
    if (!this.#waiting.known && this.#context.clock.monotonic() - this.#lookedAt >= lookAgainMs) this.#look();
    const { store, log } = this.#context;
    this.#track(
      store.devices.find(id).then((device) => device && this.#alone(device.key, () => this.#drain(device, everything))),
    ).catch((error: unknown) => log.warn({ device: id, error }, "queued commands could not be sent"));
  }

  #look(then: () => void = () => {}): void {
    this.#lookedAt = this.#context.clock.monotonic();
    this.#track(this.#waiting.look().then(then)).catch((error: unknown) =>
      this.#context.log.warn({ error }, "the devices for which commands wait are not known"),
    );
  }

  /** Sends what is queued for the device, in order, up to the command of that key. */
  async #drain(device: Target, last: number): Promise<Left> {
    // What is added while this finds none is looked at by the drain of its own, which comes after it.
    const left = await this.#sendQueued(device, last).catch((error: unknown) => {
      this.#waiting.add(device.id);
      throw error;
    });
    if (left === "none") this.#waiting.delete(device.id);
    if (left === "all") this.#waiting.add(device.id);
    return left;
  }

  async #sendQueued(device: Target, last: number): Promise<Left> {
    const { store } = this.#context;
    // One at a time: others may have been added or cancelled while it was answered.
    let withheld = false;
    for (let after = 0; ; ) {
      const [command] = await store.commands.queued(device.key, after, 1);
      if (command === undefined) return withheld ? "some" : "none";
      if (this.#stopped || command.key > last) return "some";
      after = command.key;
      const outcome = await this.#deliver(device, command);
      if (outcome === "notConnected") return "all";
      // It may still be queued.
      withheld ||= outcome === "withheld";
    }
  }

  /** Has a command written, one that is queued after it is recorded as sent, and records what became of it. */
  #deliver(device: Target, command: Command): Promise<Dispatched["outcome"]> {
    return this.#context.underWay.run(command.id, () => this.#dispatch(device, command));
  }

  async #dispatch(device: Target, command: Command): Promise<Dispatched["outcome"]> {
    const { dispatcher, log, waitMs } = this.#context;
    let current = command;
    const beforeWrite = async () => {
      if (command.state !== "queued") return !this.#over(device);
      if (this.#over(device) || this.#over(command)) return false;
      if (await cancelWithoutRight(this.#context, device, command)) return false;
      const sent = await this.#take(command);
      current = sent ?? command;
      return sent !== undefined && !this.#over(device) && !this.#over(command);
    };
    const wait = command.state === "queued" && !command.encode ? this.#queuedRawWait(command) : waitMs;
    const dispatched = await dispatcher.dispatch(device.id, outgoingOf(command), wait, beforeWrite);
    await this.#record(device, current, dispatched, command.state);
    log.info({ device: device.id, command: command.id, outcome: dispatched.outcome }, "command");
    return dispatched.outcome;
  }

  #queuedRawWait({ key }: Command): number {
    const { clock, waitMs } = this.#context;
    const left = (this.#awaited.get(key) ?? 0) - clock.monotonic();
    return Math.min(waitMs, Math.max(left, queuedRawWaitMs));
  }

  #over({ expires }: { readonly expires: number | null }): boolean {
    return expires !== null && this.#context.clock.now() >= expires;
  }

  /** Records that a queued command is sent; undefined: it ended meanwhile. */
  #take({ key }: Command): Promise<Command | undefined> {
    const { clock, store } = this.#context;
    return store.commands.step(key, ["queued"], "sent", { sentAt: clock.now(), failure: unknownOutcome });
  }

  /** @param before the command's state before it was given to the dispatcher */
  async #record(device: Target, command: Command, dispatched: Dispatched, before: Command["state"]): Promise<void> {
    const finishedAt = this.#context.clock.now();
    const fail = (failure: string) => this.#step(command, "failed", { sentAt: null, finishedAt, failure });
    switch (dispatched.outcome) {
      case "withheld":
        // The timer ends what is queued; of the others the time ran out as they were recorded.
        if (command.state === "queued") return;
        if (before !== "queued" || this.#over(device)) return fail(deviceExpired);
        return this.#step(command, "expired", { sentAt: null, finishedAt, failure: null });
      case "notConnected":
        // What is queued goes on waiting, but for one that was recorded already.
        if (command.state === "queued") return;
        if (await this.#hasExpired(device)) return fail(deviceExpired);
        return fail(before === "queued" ? endedBefore : notConnected);
      case "noForm":
        return fail(noForm);
      case "refused":
        return fail(`the protocol of the device's connection can't carry it: ${dispatched.reason}`);
      case "answered":
        return this.#answered(command, dispatched);
      case "lost":
        return this.#step(command, "sent", {
          failure: (await this.#hasExpired(device)) ? expiredMeanwhile : connectionLost,
        });
      case "sent":
        await this.#step(command, "sent", {
          failure: dispatched.unclear === undefined ? null : unclearReply(dispatched.unclear),
        });
        void this.#awaitLate(command, dispatched.later);
    }
  }

  /**
   * Whether a conversation ended because the device expired; it may have been given another term since it was looked
   * up.
   */
  async #hasExpired({ id }: Target): Promise<boolean> {
    const device = await this.#context.store.devices.find(id);
    return device !== undefined && this.#over(device);
  }

  #answered(command: Command, { text, ok }: DeviceReply): Promise<void> {
    return this.#step(command, "delivered", {
      finishedAt: this.#context.clock.now(),
      // Two bytes that claim to be UTF-16 may be half a pair.
      reply: text.toWellFormed(),
      failure: ok === false ? deviceRefused : null,
    });
  }

  async #awaitLate(command: Command, later: Promise<DeviceReply | undefined>): Promise<void> {
    const reply = await later;
    if (reply === undefined || this.#stopped) return;
    await this.#track(this.#answered(command, reply)).catch((error: unknown) =>
      this.#context.log.warn({ command: command.id, error }, "a late reply was not recorded"),
    );
  }

  async #step(command: Command, to: Command["state"], change: CommandChange): Promise<void> {
    const from = command.state === "sent" ? "ours" : command.state;
    await this.#context.store.commands.step(command.key, [from], to, change);
  }
}

/** What is written for a recorded command. Its text has passed the checks of its format. */
function outgoingOf({ encode, format, command }: Command | NewCommand): Outgoing {
  if (encode) return { encode: command };
  const bytes = payloadOf(format, command);
  if (typeof bytes === "string") throw new Error(`a recorded command is not ${format}`);
  return { bytes };
}
