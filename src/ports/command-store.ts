import type { Command, CommandState } from "../model/command.ts";
import type { DeviceKey } from "../model/device.ts";
import type { Page, PageAsk } from "./pages.ts";

/** A command as it is first recorded. */
export type NewCommand = Omit<Command, "key">;

/** What a step of a command changes beside its state. */
export type CommandChange = Partial<Pick<Command, "sentAt" | "finishedAt" | "reply" | "failure">> & {
  /**
   * What the SMS gateway calls the message's parts, by which delivery receipts name them; null for one that it gave no
   * name. They replace those of an earlier try.
   */
  readonly smsIds?: readonly (string | null)[];
};

/**
 * What a command must be for a step. `ours`: sent, and by this process; so what becomes of it is recorded by who sent
 * it, and by nobody else.
 */
export type StepFrom = CommandState | "ours";

/** What is known of the parts of a command by SMS: all were delivered, one will not be, or more is to come. */
export type SmsDelivery = "delivered" | "failed" | "open";

/** A command that was made, or the one that was made before under its idempotency key. */
export interface MadeCommand {
  readonly command: Command;
  readonly existing: boolean;
}

/**
 * Records of commands. Each step is a compare-and-set, so that of two who act on the same command one wins. Each device
 * has a bounded number of records: a new one makes the oldest that ended go, and those that wait stay.
 */
export interface CommandStore {
  /**
   * `existing`: the user has used this idempotency key for this device before; nothing was made. `missing`: the device
   * is gone meanwhile.
   */
  create(command: NewCommand): Promise<MadeCommand | "missing">;
  /** As `create`, unless `mostWaiting` commands already wait for the device. */
  enqueue(command: NewCommand, mostWaiting: number): Promise<MadeCommand | "missing" | "full">;
  find(device: DeviceKey, id: string): Promise<Command | undefined>;
  /** The user's command to this device under an idempotency key. */
  findByIdempotencyKey(device: DeviceKey, userKey: number, idempotencyKey: string): Promise<Command | undefined>;
  /** Newest first; after the command of that key where it is given. */
  list(device: DeviceKey, after: number | undefined, limit: number): Promise<readonly Command[]>;
  page(device: DeviceKey, ask: PageAsk): Promise<Page<Command>>;
  /** Those that wait for the device's connection, oldest first, after the command of that key; expired ones too. */
  queued(device: DeviceKey, after: number, limit: number): Promise<readonly Command[]>;
  /**
   * The command after the step; undefined where it was none of `from`, or its failure not the one that is given. A step
   * to `sent` makes the command this process's.
   */
  step(
    key: number,
    from: readonly StepFrom[],
    to: CommandState,
    change: CommandChange,
    failure?: string,
  ): Promise<Command | undefined>;
  /**
   * Records what became of the part that the gateway calls so, and tells what is known of its command now; the newest
   * where several were called so.
   */
  receipt(
    smsId: string,
    delivered: boolean,
  ): Promise<{ readonly command: Command; readonly delivery: SmsDelivery } | undefined>;
  /** Ends queued commands whose time has run out, a bounded number at once. Gives those that it ended. */
  expire(now: number): Promise<readonly Command[]>;
  /** The earliest time at which a queued command runs out, which may have passed; undefined: none waits. */
  nextExpiry(): Promise<number | undefined>;
  /** Ids of devices for whose connection commands wait, at most `limit`. */
  waitingDevices(limit: number): Promise<readonly string[]>;
  /**
   * One bounded step of deleting the records that ended before a moment (those that are sent and got no answer: were
   * sent), with what was made after it left alone: looks at `limit` records after that key. Tells how many it deleted,
   * and the key to go on after; no key: that was all.
   */
  deleteEnded(
    before: number,
    after: number,
    limit: number,
  ): Promise<{ readonly deleted: number; readonly next: number | undefined }>;
}
