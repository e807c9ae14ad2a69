import { ApiError } from "../errors/catalogue.ts";
import type { Command } from "../model/command.ts";
import type { Device } from "../model/device.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { SmsBody, SmsReceipt, SmsSender } from "../ports/sms.ts";
import type { CommandChange, MadeCommand, NewCommand, Store } from "../ports/store.ts";
import { dayIn, secondsToNextDayIn } from "./account-day.ts";
import { smsUnavailable, unknownOutcome } from "./command-outcome.ts";

/** Receipts that came before the gateway's answer to the message was recorded; some gateways are that quick. */
const earlyReceipts = 1000;

/** How often giving back is tried, and the pause between, ms: long enough for a locked file, short enough for a request. */
const giveBackAttempts = 5;
const giveBackPauseMs = 100;

/** What sending by SMS needs of the service. */
export interface CommandSmsContext {
  readonly store: Pick<Store, "commands" | "daily" | "accounts">;
  readonly clock: Clock;
  readonly log: Log;
  readonly sender: SmsSender;
}

/** Commands by SMS: counted to the device's day, recorded before they are handed over, stepped by the gateway's receipts. */
export class CommandSms {
  readonly #context: CommandSmsContext;
  readonly #early = new Map<string, SmsReceipt>();

  constructor(context: CommandSmsContext) {
    this.#context = context;
    context.sender.onReceipt((receipt) => {
      this.#receipt(receipt).catch((error: unknown) =>
        context.log.warn({ error }, "a delivery receipt could not be recorded"),
      );
    });
  }

  /** Whether the gateway carries 8-bit messages. */
  get binary(): boolean {
    return this.#context.sender.binary;
  }

  /**
   * Sends one message to the number and records it. `make` records the command, or finds the one of its idempotency key, which is not sent again.
   * @throws ApiError `dailySms`, `deviceNotFound`
   */
  async send(device: Device, to: string, body: SmsBody, make: (sent: SentFields) => Promise<Made>): Promise<Command> {
    const day = await this.#take(device);
    const giveBack = () => this.#giveBack(device, day);
    const sent = { state: "sent", sentAt: this.#context.clock.now(), failure: unknownOutcome } as const;
    const made = await make(sent).catch(async (error: unknown) => {
      await giveBack();
      throw error;
    });
    if (made === "missing") throw new ApiError("deviceNotFound");
    if (!made.existing) return this.#hand(made.command, to, body, giveBack);
    await giveBack();
    return made.command;
  }

  /** Tries again what failed because the gateway could not take it for the moment, while it has time; undefined: somebody else does so already. */
  async again(device: Device, command: Command, to: string, body: SmsBody): Promise<Command | undefined> {
    const before = command.failure ?? "";
    const now = this.#context.clock.now();
    if (now >= command.expires) {
      const over = { finishedAt: now, failure: null };
      return this.#context.store.commands.step(command.key, ["failed"], "expired", over, before);
    }
    const day = await this.#take(device);
    const giveBack = () => this.#giveBack(device, day);
    const { commands } = this.#context.store;
    const change = { sentAt: this.#context.clock.now(), finishedAt: null, failure: unknownOutcome };
    const sent = await commands.step(command.key, ["failed"], "sent", change, before);
    if (sent !== undefined) return this.#hand(sent, to, body, giveBack);
    await giveBack();
    return undefined;
  }

  /** Counts one SMS to the device's day, in its account's time zone; gives the day. */
  async #take(device: Device): Promise<string> {
    const { store, clock } = this.#context;
    const account = await store.accounts.find(device.accountKey);
    if (account === undefined) throw new ApiError("deviceNotFound");
    const now = clock.now();
    const day = dayIn(account.timeZone, now);
    if (await store.daily.take(device.key, day, "sms", device.dailySmsLimit)) return day;
    throw new ApiError("dailySms", [], secondsToNextDayIn(account.timeZone, now));
  }

  async #hand(command: Command, to: string, body: SmsBody, giveBack: () => Promise<void>): Promise<Command> {
    const { sender } = this.#context;
    const result = await sender.send(to, body);
    switch (result.outcome) {
      case "accepted": {
        // The last part arrives last, mostly; one id is enough to tell the command by.
        const smsId = result.ids.at(-1) ?? null;
        const accepted = await this.#step(command, "sent", { smsId, failure: null });
        const early = smsId === null ? undefined : this.#early.get(smsId);
        return early === undefined ? accepted : ((await this.#receipt(early)) ?? accepted);
      }
      case "maybe":
        return this.#step(command, "sent", { failure: `${result.reason}: it may or may not have been sent` });
      case "refused": {
        const failure = `the SMS gateway refused it: ${result.reason}`;
        return this.#failed(command, failure, giveBack);
      }
      case "unavailable": {
        const failure = smsUnavailable + result.reason;
        return this.#failed(command, failure, giveBack);
      }
    }
  }

  /** Nothing was sent. The record comes first: it is what the caller reads, and a repeat under its key depends on it. */
  async #failed(command: Command, failure: string, giveBack: () => Promise<void>): Promise<Command> {
    const change = { sentAt: null, finishedAt: this.#context.clock.now(), failure };
    try {
      return await this.#step(command, "failed", change);
    } finally {
      await giveBack();
    }
  }

  /** Gives back an SMS that was counted and not sent; one that can't be given back is logged, and fails nothing else. */
  async #giveBack(device: Device, day: string): Promise<void> {
    const { store, log } = this.#context;
    for (let attempt = 1; ; attempt++) {
      try {
        await store.daily.giveBack(device.key, day, "sms");
        return;
      } catch (error) {
        if (attempt === giveBackAttempts) {
          log.warn({ device: device.id, error }, "an SMS that was not sent is counted");
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, giveBackPauseMs));
      }
    }
  }

  /** The command after the step; as it was where its device was removed meanwhile. */
  async #step(command: Command, to: Command["state"], change: CommandChange): Promise<Command> {
    const { commands } = this.#context.store;
    return (await commands.step(command.key, ["sent"], to, change)) ?? { ...command, ...change, state: to };
  }

  async #receipt(receipt: SmsReceipt): Promise<Command | undefined> {
    const { store, clock } = this.#context;
    // Before the look: the message's id may be written during it, and who writes it looks here afterwards.
    this.#keepEarly(receipt);
    const command = await store.commands.bySmsId(receipt.id);
    if (command === undefined) return undefined;
    this.#early.delete(receipt.id);
    const finishedAt = clock.now();
    if (receipt.delivered)
      return store.commands.step(command.key, ["sent"], "delivered", { finishedAt, failure: null });
    const failure = `the SMS gateway reports ${receipt.state}`;
    return store.commands.step(command.key, ["sent"], "failed", { finishedAt, failure });
  }

  #keepEarly(receipt: SmsReceipt): void {
    this.#early.set(receipt.id, receipt);
    if (this.#early.size <= earlyReceipts) return;
    for (const oldest of this.#early.keys()) {
      this.#early.delete(oldest);
      return;
    }
  }
}

type SentFields = Pick<NewCommand, "state" | "sentAt" | "failure">;
type Made = MadeCommand | "missing";
