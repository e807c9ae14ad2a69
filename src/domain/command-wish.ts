import type { CommandRequest } from "../contract/command.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Command, CommandChannel, CommandFormat } from "../model/command.ts";
import type { Device } from "../model/device.ts";
import type { NewCommand } from "../ports/command-store.ts";
import { payloadOf } from "./command-payload.ts";

const defaultTtlSeconds = 86_400;

/** A request that has passed its checks. */
export interface Wish {
  readonly channel: CommandChannel;
  readonly format: CommandFormat;
  readonly command: string;
  readonly encode: boolean;
  readonly ttlMs: number;
  readonly bytes: Uint8Array;
  readonly idempotencyKey: string | null;
}

/** @throws ApiError `badRequest` with all that is wrong */
export function readWish(body: CommandRequest, channel: CommandChannel, idempotencyKey: string | undefined): Wish {
  const format = body.format ?? "Text";
  const encode = body.encode === true;
  const details: string[] = [];
  const bytes = payloadOf(format, body.command);
  if (typeof bytes === "string") details.push(`body/command: ${bytes}`);
  else if (bytes.length === 0) details.push("body/command: has no bytes");
  if (encode && format !== "Text") details.push("body/encode: a protocol wraps text only");
  if (encode && channel === "sms") details.push("body/encode: an SMS is not wrapped");
  if (typeof bytes === "string" || details.length > 0) throw new ApiError("badRequest", details);
  const ttlMs = (body.ttlSeconds ?? defaultTtlSeconds) * 1000;
  return { channel, format, command: body.command, encode, ttlMs, bytes, idempotencyKey: idempotencyKey ?? null };
}

/**
 * The time, ms, for which a command that must not wait is queued for the process that has the connection. Callers ask
 * for whole seconds, and this is none: so the record tells what was asked for.
 */
export function briefTtl(turnMs: number): number {
  return Math.ceil(turnMs / 1000 + 1) * 1000 + 1;
}

/** Whether a request asks for what the command did. */
export function isSame(command: Command, { channel, format, command: text, encode, ttlMs }: Wish): boolean {
  const ttl = command.expires - command.creation;
  return (
    command.channel === channel &&
    command.format === format &&
    command.command === text &&
    command.encode === encode &&
    (ttl % 1000 === 0 ? ttl : 0) === ttlMs
  );
}

/** The record that a wish begins with. */
export function recordOf(
  { channel, format, command, encode, ttlMs, idempotencyKey }: Wish,
  user: User,
  device: Device,
  made: Pick<NewCommand, "id" | "creation">,
): NewCommand {
  return {
    ...made,
    device: device.key,
    userKey: user.key,
    userName: user.email,
    channel,
    format,
    command,
    encode,
    state: "queued",
    expires: made.creation + ttlMs,
    sentAt: null,
    finishedAt: null,
    reply: null,
    failure: null,
    idempotencyKey,
  };
}
