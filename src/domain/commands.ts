import type { CommandRequest, CommandView } from "../contract/command.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { CapsOf } from "../model/caps.ts";
import { type Command, mayCommand } from "../model/command.ts";
import type { Device } from "../model/device.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock, ClockTrust } from "../ports/clock.ts";
import type { NewCommand } from "../ports/command-store.ts";
import type { Dispatcher } from "../ports/dispatcher.ts";
import type { Ids } from "../ports/ids.ts";
import type { Log } from "../ports/log.ts";
import type { PageAsk } from "../ports/pages.ts";
import type { SmsBody, SmsSender } from "../ports/sms.ts";
import type { Store } from "../ports/store.ts";
import { deviceExpired, noTurn, notConnected, resultOf, smsUnavailable, throwFailure } from "./command-outcome.ts";
import { CommandQueue } from "./command-queue.ts";
import { CommandSms } from "./command-sms.ts";
import { CommandsUnderWay } from "./command-under-way.ts";
import { commandView } from "./command-view.ts";
import { briefTtl, isSame, readWish, recordOf, type Wish } from "./command-wish.ts";
import type { Devices } from "./devices.ts";
import { type Listed, listedOf } from "./listed.ts";
import { toldCommands } from "./told-commands.ts";

/** What became of a command so far, and which record tells of it. */
export interface Outcome {
  readonly result: string;
  readonly commandId: string;
}

/** Commands to devices and their records. Calls fail with `deviceNotFound` where the user can't see the device. */
export interface Commands {
  /**
   * Sends a command, or queues it.
   * @throws ApiError `permissionDenied`, `badRequest`, `deviceExpired`, `noPhone`, `smsNotConfigured`, `dailySms`,
   * `idempotencyConflict`, `tooManyRequests`, `requestTimeout`, `unavailable`
   */
  send(user: User, deviceId: string, body: CommandRequest, idempotencyKey: string | undefined): Promise<Outcome>;
  /** Newest first. */
  page(user: User, deviceId: string, ask: PageAsk): Promise<Listed<CommandView>>;
  /** @throws ApiError `commandNotFound`, `commandFinished` where it is sent already or will not be */
  cancel(user: User, deviceId: string, commandId: string): Promise<void>;
  /** Ends what ran out while the service was down, and watches. */
  start(): void;
  stop(): Promise<void>;
}

/** What commands need of the service. */
export interface CommandsContext {
  readonly store: Pick<Store, "commands" | "devices" | "daily" | "accounts" | "users">;
  readonly devices: Pick<Devices, "find">;
  readonly dispatcher: Dispatcher;
  readonly bus: Bus;
  readonly capsOf: CapsOf;
  /** Undefined: no SMS gateway is configured. */
  readonly sms: SmsSender | undefined;
  readonly clock: Clock;
  /** Whether commands may be ended by it; unless given, it is right. */
  readonly clockTrust?: ClockTrust | undefined;
  readonly ids: Ids;
  readonly log: Log;
  /** How long a device's reply is waited for. */
  readonly waitMs: number;
}

/** Seconds after which to ask again for an SMS: a gateway that is set up, or comes back, takes that long at least. */
const smsRetrySeconds = 60;
/**
 * Commands that may wait for one device: more than anybody means to send to a sleeping tracker, few enough that a
 * script in a loop fills no disk.
 */
const mostWaiting = 100;
/** Seconds after which to ask again if too many wait: by then the device may have connected, or their time run out. */
const fullRetrySeconds = 60;
/** Time of a request beside that for the device's reply, ms: for the store before and after it. */
const recordMs = 1000;
/**
 * Time that the repeat of an SMS waits for the gateway's answer to the first one, ms: below the API's 30 s, so that its
 * answer says where it stands.
 */
const smsWaitMs = 25_000;
const waitsForTurn = "queued: earlier commands to the device are being answered; it is sent after them";

/** The commands over their store, the connections and the SMS gateway. */
export function createCommands(context: CommandsContext): Commands {
  return new DeviceCommands(context);
}

class DeviceCommands implements Commands {
  readonly #context: CommandsContext;
  readonly #queue: CommandQueue;
  readonly #sms: CommandSms | undefined;
  readonly #underWay: CommandsUnderWay;

  constructor({ store, ...rest }: CommandsContext) {
    const underWay = new CommandsUnderWay(rest.bus, rest.clock);
    this.#underWay = underWay;
    const commands = toldCommands(store.commands, (command) => rest.bus.publish(underWay.changed(command)));
    const { devices, daily, accounts, users } = store;
    const context = { ...rest, store: { commands, devices, daily, accounts, users } };
    this.#context = context;
    this.#queue = new CommandQueue({ ...context, underWay });
    this.#sms = context.sms && new CommandSms({ ...context, underWay, sender: context.sms });
  }

  async send(user: User, deviceId: string, body: CommandRequest, idempotencyKey: string | undefined): Promise<Outcome> {
    const { devices, clock } = this.#context;
    const channel = body.sms === true ? "sms" : "data";
    if (!mayCommand(user, channel)) throw new ApiError("permissionDenied");
    const device = await devices.find(user, deviceId);
    const wish = readWish(body, channel, idempotencyKey);
    if (device.expires !== null && clock.now() >= device.expires) throw new ApiError("deviceExpired");
    return channel === "sms" ? this.#bySms(user, device, wish) : this.#byData(user, device, wish);
  }

  async page(user: User, deviceId: string, ask: PageAsk): Promise<Listed<CommandView>> {
    const device = await this.#context.devices.find(user, deviceId);
    const found = listedOf(await this.#context.store.commands.page(device.key, ask));
    return { ...found, items: found.items.map((command) => commandView(this.#underWay.tell(command))) };
  }

  async cancel(user: User, deviceId: string, commandId: string): Promise<void> {
    const { devices, store, clock } = this.#context;
    const device = await devices.find(user, deviceId);
    const command = await store.commands.find(device.key, commandId);
    if (command === undefined) throw new ApiError("commandNotFound");
    if (!mayCommand(user, command.channel)) throw new ApiError("permissionDenied");
    const cancelled = await store.commands.step(command.key, ["queued"], "cancelled", { finishedAt: clock.now() });
    if (cancelled === undefined) throw new ApiError("commandFinished");
  }

  start(): void {
    this.#queue.start();
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  async #byData(user: User, device: Device, wish: Wish): Promise<Outcome> {
    const { clock, store, waitMs } = this.#context;
    const until = clock.monotonic() + waitMs + recordMs;
    const sending = wish.ttlMs === 0 ? await this.#sendAtOnce(user, device, wish, waitMs + recordMs) : undefined;
    const made = sending?.made ?? (await store.commands.enqueue(this.#record(user, device, wish), mostWaiting));
    if (made === "missing") throw new ApiError("deviceNotFound");
    if (made === "full")
      throw new ApiError("tooManyRequests", [`${mostWaiting} commands wait for the device already`], fullRetrySeconds);
    const { command, existing } = made;
    if (existing && !isSame(command, wish)) throw new ApiError("idempotencyConflict");
    // Where an earlier request still waits for the device, so does its repeat.
    const work = existing
      ? this.#queue.finished(device, command)
      : (sending?.done ?? this.#queue.send(device, command));
    const inTime = await within(until - clock.monotonic(), work);
    const current = await this.#current(device, command);
    if (current.state !== "queued") return this.#answer(current);
    const answer = this.#answer(await this.#failIfExpired(device, current));
    return inTime ? answer : { ...answer, result: waitsForTurn };
  }

  /**
   * A command that is not to be queued; its record is there once it is about to be written. Where another process has
   * the connection, it is queued for that one, for as long as this request waits.
   */
  async #sendAtOnce(user: User, device: Device, wish: Wish, turnMs: number) {
    const { idempotencyKey: key } = wish;
    const { dispatcher, store } = this.#context;
    const { commands } = store;
    const existing = key === null ? undefined : await commands.findByIdempotencyKey(device.key, user.key, key);
    if (existing !== undefined) return { made: { command: existing, existing: true }, done: undefined };
    if (dispatcher.where(device.id) === "elsewhere") {
      const record = this.#record(user, device, wish);
      const made = await commands.create({ ...record, expires: record.creation + briefTtl(turnMs) });
      return {
        made,
        done: made === "missing" || made.existing ? undefined : this.#notQueued(device, made.command, turnMs),
      };
    }
    const { made, done } = this.#queue.sendNow(device, turnMs, (sent) =>
      commands.create({ ...this.#record(user, device, wish), ...sent }),
    );
    return { made: await made, done };
  }

  /** Has another process send a command. If it does not, none does. */
  async #notQueued(device: Device, command: Command, turnMs: number): Promise<void> {
    const { store, clock, dispatcher } = this.#context;
    const inTime = await within(turnMs, this.#queue.send(device, command));
    const failure = !inTime && dispatcher.where(device.id) === "elsewhere" ? noTurn : notConnected;
    const failed = { finishedAt: clock.now(), failure };
    await store.commands.step(command.key, ["queued"], "failed", failed);
  }

  /**
   * A device may expire, or be deleted, while a request waits for its command's turn: then it is refused like any later
   * one.
   */
  async #failIfExpired({ id }: Device, command: Command): Promise<Command> {
    const { store, clock } = this.#context;
    const device = await store.devices.find(id);
    if (device === undefined) throw new ApiError("deviceNotFound");
    const now = clock.now();
    if (device.expires === null || now < device.expires) return command;
    const failed = { finishedAt: now, failure: deviceExpired };
    return (
      (await store.commands.step(command.key, ["queued"], "failed", failed)) ?? (await this.#current(device, command))
    );
  }

  async #bySms(user: User, device: Device, wish: Wish): Promise<Outcome> {
    const { min: to } = device;
    const sms = this.#sms;
    if (to === null) throw new ApiError("noPhone");
    if (sms === undefined) throw new ApiError("smsNotConfigured", [], smsRetrySeconds);
    if (wish.format !== "Text" && !sms.binary)
      throw new ApiError("badRequest", ["body/format: the SMS gateway carries no 8-bit messages"]);
    const body: SmsBody = wish.format === "Text" ? { text: wish.command } : { bytes: wish.bytes };
    const { idempotencyKey: key } = wish;
    const { commands } = this.#context.store;
    const existing = key === null ? undefined : await commands.findByIdempotencyKey(device.key, user.key, key);
    if (existing !== undefined) return this.#repeatSms(sms, device, existing, wish, to, body);
    const record = this.#record(user, device, wish);
    const made = await sms.send(device, to, body, record.id, (sent) => commands.create({ ...record, ...sent }));
    // One that came at the same moment was the first.
    return made.id === record.id ? this.#answer(made) : this.#repeatSms(sms, device, made, wish, to, body);
  }

  async #repeatSms(
    sms: CommandSms,
    device: Device,
    existing: Command,
    wish: Wish,
    to: string,
    body: SmsBody,
  ): Promise<Outcome> {
    if (!isSame(existing, wish)) throw new ApiError("idempotencyConflict");
    // Where the first one still waits for the gateway, so does its repeat.
    await within(smsWaitMs, this.#underWay.settled(existing.id));
    const command = await this.#current(device, existing);
    const again = command.state === "failed" && command.failure?.startsWith(smsUnavailable) === true;
    if (!again) return this.#answer(command);
    return this.#answer((await sms.again(device, command, to, body)) ?? (await this.#current(device, command)));
  }

  #record(user: User, device: Device, wish: Wish): NewCommand {
    const { ids, clock } = this.#context;
    return recordOf(wish, user, device, { id: ids.uuid(), creation: clock.now() });
  }

  /** The command as it now is. */
  async #current(device: Device, command: Command): Promise<Command> {
    const found = await this.#context.store.commands.find(device.key, command.id);
    if (found === undefined) throw new ApiError("deviceNotFound");
    return found;
  }

  #answer(command: Command): Outcome {
    throwFailure(command, smsRetrySeconds);
    return { result: resultOf(command, this.#underWay.has(command.id)), commandId: command.id };
  }
}

/** Whether the work ends within a time. The work goes on in any case, and its failure is the request's. */
async function within(ms: number, work: Promise<void>): Promise<boolean> {
  const over = Promise.withResolvers<false>();
  const timer = setTimeout(over.resolve, ms, false);
  try {
    return await Promise.race([work.then(() => true), over.promise]);
  } finally {
    clearTimeout(timer);
  }
}
