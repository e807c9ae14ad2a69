import { ApiError } from "../errors/catalogue.ts";
import type { Command } from "../model/command.ts";
import type { Device } from "../model/device.ts";
import type { Clock } from "../ports/clock.ts";
import type { DeviceReply, Dispatched, Dispatcher, Outgoing } from "../ports/dispatcher.ts";
import type { Log } from "../ports/log.ts";
import type { CommandChange, NewCommand, Store } from "../ports/store.ts";
import { CommandExpiry } from "./command-expiry.ts";
import { connectionLost, deviceRefused, noForm, notConnected, unknownOutcome } from "./command-outcome.ts";
import { payloadOf } from "./command-payload.ts";
import { createLocks } from "./locks.ts";

/** What the queue needs of the service. */
export interface CommandQueueContext {
  readonly store: Pick<Store, "commands" | "devices">;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a reply is waited for. */
  readonly waitMs: number;
}

type Target = Pick<Device, "key" | "id">;
type Made = { readonly command: Command; readonly existing: boolean } | "missing";

/** Time that a request waits for commands before it and its own; below the API's 30 s, so that its answer says where it stands. */
export const turnMs = 25_000;
const everything = Number.MAX_SAFE_INTEGER;

/**
 * Commands over the data connection, those of one device one after the other.
 *
 * A command is recorded as sent before it is written, by a compare-and-set, with a failure that says that its outcome is unknown; what became of it then
 * replaces that. So whenever the service is killed, none is ever written twice, and a record that nobody could finish says so.
 */
export class CommandQueue {
  readonly #context: CommandQueueContext;
  readonly #expiry: CommandExpiry;
  readonly #alone = createLocks<number>();
  /** Work under way; `stop` waits for it. */
  readonly #running = new Set<Promise<unknown>>();
  #stopped = false;

  constructor(context: CommandQueueContext) {
    this.#context = context;
    this.#expiry = new CommandExpiry(context.store.commands, context.clock, context.log);
    context.dispatcher.onReachable((device) => this.#reached(device));
  }

  start(): void {
    this.#expiry.start();
  }

  /** Nothing more is sent; what was written is recorded as it stands. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#expiry.stop();
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  /** A command was recorded as queued: it is sent after those before it, at once where the device is connected. */
  send(device: Target, command: Command): Promise<void> {
    this.#expiry.add(command.expires);
    return this.finished(device, command);
  }

  /** Resolves when the command and those before it are not under way. */
  finished(device: Target, { key }: Command): Promise<void> {
    return this.#track(this.#alone(device.key, () => this.#drain(device, key)));
  }

  /**
   * Sends one that must not wait for a connection, after all that are queued; `make` records it.
   * @throws ApiError `requestTimeout` where its turn does not come within `turnMs`: nothing is sent then
   */
  sendNow(device: Target, make: (sent: Pick<Command, "state" | "sentAt" | "failure">) => Promise<Made>): Promise<Made> {
    const { clock } = this.#context;
    const deadline = clock.monotonic() + turnMs;
    return this.#track(
      this.#alone(device.key, async () => {
        await this.#drain(device, everything);
        if (clock.monotonic() > deadline)
          throw new ApiError("requestTimeout", ["earlier commands to the device are being answered; nothing was sent"]);
        const made = await make({ state: "sent", sentAt: clock.now(), failure: unknownOutcome });
        if (made !== "missing" && !made.existing) await this.#deliver(device, made.command, false);
        return made;
      }),
    );
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

  #reached(id: string): void {
    if (this.#stopped || !this.#expiry.mayWait) return;
    const { store, log } = this.#context;
    this.#track(
      store.devices.find(id).then((device) => device && this.#alone(device.key, () => this.#drain(device, everything))),
    ).catch((error: unknown) => log.warn({ device: id, error }, "queued commands could not be sent"));
  }

  /** Sends what is queued for the device, in order, up to the command of that key. */
  async #drain(device: Target, last: number): Promise<void> {
    const { clock, store } = this.#context;
    for (const { key, expires } of await store.commands.queued(device.key)) {
      if (this.#stopped || key > last) return;
      const now = clock.now();
      // The timer ends those whose time has run out.
      if (now >= expires) continue;
      const sent = await store.commands.step(key, ["queued"], "sent", { sentAt: now, failure: unknownOutcome });
      if (sent !== undefined && !(await this.#deliver(device, sent, true))) return;
    }
  }

  /** Writes a command that is recorded as sent, and records what became of it. False: the device is not connected. */
  async #deliver(device: Target, command: Command, mayWait: boolean): Promise<boolean> {
    const { dispatcher, store, log, waitMs } = this.#context;
    let noted: Promise<unknown> = Promise.resolve();
    const note = () => {
      noted = store.commands
        .step(command.key, ["sent"], "sent", { failure: null })
        .catch((error: unknown) => log.warn({ command: command.id, error }, "a command was written and not recorded"));
    };
    const dispatched = await dispatcher.dispatch(device.id, outgoingOf(command), waitMs, note);
    await noted;
    await this.#record(command, dispatched, mayWait);
    log.info({ device: device.id, command: command.id, outcome: dispatched.outcome }, "command");
    return dispatched.outcome !== "notConnected";
  }

  async #record(command: Command, dispatched: Dispatched, mayWait: boolean): Promise<void> {
    const now = this.#context.clock.now();
    switch (dispatched.outcome) {
      case "notConnected":
        if (!mayWait) return this.#step(command, "failed", { sentAt: null, finishedAt: now, failure: notConnected });
        await this.#step(command, "queued", { sentAt: null, failure: null });
        this.#expiry.add(command.expires);
        return;
      case "noForm":
        return this.#step(command, "failed", { sentAt: null, finishedAt: now, failure: noForm });
      case "refused": {
        const failure = `the protocol of the device's connection can't carry it: ${dispatched.reason}`;
        return this.#step(command, "failed", { sentAt: null, finishedAt: now, failure });
      }
      case "answered":
        return this.#answered(command, dispatched);
      case "lost":
        return this.#step(command, "sent", { failure: connectionLost });
      case "sent":
        void this.#awaitLate(command, dispatched.later);
    }
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
    await this.#context.store.commands.step(command.key, ["sent"], to, change);
  }
}

/** What is written for a recorded command. Its text has passed the checks of its format. */
function outgoingOf({ encode, format, command }: Command | NewCommand): Outgoing {
  if (encode) return { encode: command };
  const bytes = payloadOf(format, command);
  if (typeof bytes === "string") throw new Error(`a recorded command is not ${format}`);
  return { bytes };
}
