import { ApiError } from "../errors/catalogue.ts";
import { dayIn, secondsToNextDayIn } from "../model/account-day.ts";
import type { CapsOf } from "../model/caps.ts";
import type { Command } from "../model/command.ts";
import type { Device } from "../model/device.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { CommandChange, MadeCommand, NewCommand } from "../ports/command-store.ts";
import type { Log } from "../ports/log.ts";
import type { SmsBody, SmsReceipt, SmsSender } from "../ports/sms.ts";
import type { Store } from "../ports/store.ts";
import { smsUnavailable, unknownOutcome } from "./command-outcome.ts";
import type { CommandsUnderWay } from "./command-under-way.ts";

/**
 * The newest receipts are kept: one may come before the gateway's answer to its message was recorded. Some gateways are
 * that quick.
 */
const earlyReceipts = 1000;

/**
 * How often giving back is tried, and the pause between, ms: long enough for a locked file, short enough for a request.
 */
const giveBackAttempts = 5;
const giveBackPauseMs = 100;

/** What sending by SMS needs of the service. */
export interface CommandSmsContext {
  readonly store: Pick<Store, "commands" | "daily" | "accounts">;
  readonly bus: Pick<Bus, "publish" | "subscribe">;
  readonly clock: Clock;
  readonly log: Log;
  readonly sender: SmsSender;
  readonly capsOf: CapsOf;
  readonly underWay: CommandsUnderWay;
}

/** How many SMS of a day a message was counted as. */
interface Counted {
  readonly device: Device;
  readonly day: string;
  readonly parts: number;
}

/**
 * Commands by SMS: counted to the device's day, a long message as the parts that it is sent in; recorded before they
 * are handed over, stepped by the gateway's receipts: delivered when all parts are, failed when one will not be.
 */
export class CommandSms {
  readonly #context: CommandSmsContext;
  /**
   * By the message's name, with the time of arrival by the clock that never goes back. The last that came stands last.
   */
  readonly #early = new Map<string, { readonly receipt: SmsReceipt; readonly at: number }>();

  constructor(context: CommandSmsContext) {
    this.#context = context;
    context.sender.onReceipt(async (receipt) => {
      // Perhaps another process sends the message, and has not recorded its name.
      if ((await this.#came(receipt)) === "unknown") context.bus.publish({ type: "smsReceipt", receipt });
    });
    context.bus.subscribe((event, from) => {
      if (event.type === "smsReceipt" && from !== undefined)
        this.#came(event.receipt).catch((error: unknown) =>
          context.log.warn({ error, sms: event.receipt.id }, "a receipt that another process got was not recorded"),
        );
    });
  }

  /** Whether the gateway carries 8-bit messages. */
  get binary(): boolean {
    return this.#context.sender.binary;
  }

  /**
   * Sends one message to the number and records it under this id. `make` records the command, or finds the one of its
   * idempotency key, which is not sent again.
   * @throws ApiError `dailySms`, `deviceNotFound`, `badRequest` (more parts than the device may be sent a day)
   */
  send(
    device: Device,
    to: string,
    body: SmsBody,
    id: string,
    make: (sent: SentFields) => Promise<Made>,
  ): Promise<Command> {
    return this.#context.underWay.run(id, () => this.#send(device, to, body, make));
  }

  async #send(device: Device, to: string, body: SmsBody, make: (sent: SentFields) => Promise<Made>): Promise<Command> {
    const counted = await this.#take(device, body);
    const giveBack = () => this.#giveBack(counted);
    const sent = { state: "sent", sentAt: this.#context.clock.now(), failure: unknownOutcome } as const;
    const made = await make(sent).catch(async (error: unknown) => {
      await giveBack();
      throw error;
    });
    if (made === "missing") throw new ApiError("deviceNotFound");
    if (!made.existing) return this.#hand(made.command, to, body, counted);
    await giveBack();
    return made.command;
  }

  /**
   * Tries again what failed because the gateway could not take it for the moment, while it has time; undefined:
   * somebody else does so already.
   */
  async again(device: Device, command: Command, to: string, body: SmsBody): Promise<Command | undefined> {
    const { underWay } = this.#context;
    if (!underWay.has(command.id)) return underWay.run(command.id, () => this.#again(device, command, to, body));
    await underWay.settled(command.id);
    return undefined;
  }

  async #again(device: Device, command: Command, to: string, body: SmsBody): Promise<Command | undefined> {
    const before = command.failure ?? "";
    const now = this.#context.clock.now();
    if (now >= command.expires) {
      const over = { finishedAt: now, failure: null };
      return this.#context.store.commands.step(command.key, ["failed"], "expired", over, before);
    }
    const counted = await this.#take(device, body);
    const { commands } = this.#context.store;
    const change = { sentAt: this.#context.clock.now(), finishedAt: null, failure: unknownOutcome };
    const sent = await commands.step(command.key, ["failed"], "sent", change, before);
    if (sent !== undefined) return this.#hand(sent, to, body, counted);
    await this.#giveBack(counted);
    return undefined;
  }

  /** Counts a message's parts to the device's day, in its account's time zone. */
  async #take(device: Device, body: SmsBody): Promise<Counted> {
    const { store, clock, sender, capsOf } = this.#context;
    const account = await store.accounts.find(device.accountKey);
    if (account === undefined) throw new ApiError("deviceNotFound");
    const now = clock.now();
    const day = dayIn(account.timeZone, now);
    const parts = sender.parts(body);
    const caps = capsOf(account);
    const limit = Math.min(device.dailySmsLimit, caps.deviceDailySms, caps.dailySms);
    const needs = `the message needs ${parts} SMS; the device may be sent ${limit} a day`;
    // No day has room for it. A single SMS is never too long: where none may be sent, the limit is reached.
    if (parts > 1 && parts > limit) throw new ApiError("badRequest", [`body/command: ${needs}`]);
    const limits = { device: limit, account: caps.dailySms };
    const taken = await store.daily.take(device.key, day, "sms", limits, parts);
    if (taken === "taken") return { device, day, parts };
    const whose = taken === "account" ? ["the SMS of the account's day do not suffice"] : [];
    const details = [...whose, ...(parts === 1 ? [] : [needs])];
    throw new ApiError("dailySms", details, secondsToNextDayIn(account.timeZone, now));
  }

  async #hand(command: Command, to: string, body: SmsBody, counted: Counted): Promise<Command> {
    const { sender, clock } = this.#context;
    const handedAt = clock.monotonic();
    const result = await sender.send(to, body);
    switch (result.outcome) {
      case "accepted": {
        const accepted = await this.#step(command, "sent", { smsIds: result.ids, failure: null });
        return (await this.#takeEarly(result.ids, handedAt)) ?? accepted;
      }
      case "maybe":
        return this.#step(command, "sent", { failure: `${result.reason}: it may or may not have been sent` });
      case "refused": {
        const failure = `the SMS gateway refused it: ${result.reason}`;
        return this.#failed(command, failure, { ...counted, parts: counted.parts - (result.sent ?? 0) });
      }
      case "unavailable": {
        const failure = smsUnavailable + result.reason;
        return this.#failed(command, failure, { ...counted, parts: counted.parts - (result.sent ?? 0) });
      }
    }
  }

  /** Nothing arrives. The record comes first: it is what the caller reads, and a repeat under its key depends on it. */
  async #failed(command: Command, failure: string, unsent: Counted): Promise<Command> {
    const change = { sentAt: null, finishedAt: this.#context.clock.now(), failure };
    try {
      return await this.#step(command, "failed", change);
    } finally {
      await this.#giveBack(unsent);
    }
  }

  /** Gives back what was counted and not sent; what can't be given back is logged, and fails nothing else. */
  async #giveBack({ device, day, parts }: Counted): Promise<void> {
    if (parts <= 0) return;
    const { store, log } = this.#context;
    for (let attempt = 1; ; attempt++) {
      try {
        await store.daily.giveBack(device.key, day, "sms", parts);
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
    return (await commands.step(command.key, ["ours"], to, change)) ?? { ...command, ...change, state: to };
  }

  /**
   * What receipts made of the command that came before its parts' names were recorded; undefined: nothing. One that
   * came before the message was handed over is of another of its name: gateways give names again.
   */
  async #takeEarly(ids: readonly (string | null)[], handedAt: number): Promise<Command | undefined> {
    let stepped: Command | undefined;
    for (const id of ids) {
      const early = id === null ? undefined : this.#early.get(id);
      if (early !== undefined && early.at >= handedAt) stepped = (await this.#receipt(early.receipt)) ?? stepped;
    }
    return stepped;
  }

  async #came(receipt: SmsReceipt): Promise<"known" | "unknown"> {
    // Before the look: the message's name may be recorded during it, and who records it looks here afterwards.
    this.#keepEarly(receipt);
    const known = await this.#context.store.commands.receipt(receipt.id, receipt.delivered);
    if (known !== undefined) await this.#stepBy(receipt, known);
    return known === undefined ? "unknown" : "known";
  }

  async #receipt(receipt: SmsReceipt): Promise<Command | undefined> {
    const known = await this.#context.store.commands.receipt(receipt.id, receipt.delivered);
    return known && this.#stepBy(receipt, known);
  }

  async #stepBy(receipt: SmsReceipt, known: NamedPart): Promise<Command | undefined> {
    const { store, clock } = this.#context;
    const { key } = known.command;
    const finishedAt = clock.now();
    if (known.delivery === "delivered")
      return store.commands.step(key, ["sent"], "delivered", { finishedAt, failure: null });
    // Two receipts may be handled at once. The receipt of the lost part says why it was lost. If the process ends
    // before that, the gateway sends that receipt again.
    if (known.delivery === "open" || receipt.delivered) return undefined;
    // The first that will not be delivered ends the command; what comes later of the others changes nothing.
    const failure = `the SMS gateway reports ${receipt.state}`;
    return store.commands.step(key, ["sent"], "failed", { finishedAt, failure });
  }

  #keepEarly(receipt: SmsReceipt): void {
    this.#early.delete(receipt.id);
    this.#early.set(receipt.id, { receipt, at: this.#context.clock.monotonic() });
    if (this.#early.size <= earlyReceipts) return;
    for (const oldest of this.#early.keys()) {
      this.#early.delete(oldest);
      return;
    }
  }
}

type SentFields = Pick<NewCommand, "state" | "sentAt" | "failure">;
type Made = MadeCommand | "missing";
type NamedPart = NonNullable<Awaited<ReturnType<Store["commands"]["receipt"]>>>;
