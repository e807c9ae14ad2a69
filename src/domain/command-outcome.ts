import { formatInstant } from "../contract/time.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { Command } from "../model/command.ts";

/**
 * What a command is called until its outcome is recorded. It stays where the service ends meanwhile: nobody can tell,
 * so it is never sent again.
 */
export const unknownOutcome = "no outcome was recorded: it may or may not have reached the device";
/** The connection ended after the command was written. */
export const connectionLost = "the connection ended before a reply came: it may or may not have reached the device";
/** The device expired after the command was written, so its connection was closed. */
export const expiredMeanwhile = "the device expired before a reply came: it may or may not have reached the device";
/** A command that was not to wait found no connection. */
export const notConnected = "the device is not connected";
/** A command that was not to wait did not get its turn at the process with the connection. */
export const noTurn = "earlier commands to the device were being answered: it was not sent";
/** The device expired before the command's turn came, while its request waited for that. */
export const deviceExpired = "the device expired";
/** The connection ended in the moment between the record and the writing. */
export const endedBefore = "the connection ended before it was written: it did not reach the device";
/** The connection's protocol knows no form for commands. */
export const noForm = "the protocol of the device's connection has no form for commands";
/** A reply came that may be an earlier command's, which was not answered: this protocol's replies name no command. */
export function unclearReply(text: string): string {
  return `a reply came that may be an earlier command's: ${text.toWellFormed()}`;
}
/** The device answered that it did not do it. */
export const deviceRefused = "the device says that it was not done";
/**
 * Begins the reason why an SMS was not taken for the moment; such a command may be tried again under its idempotency
 * key.
 */
export const smsUnavailable = "the SMS gateway is not available: ";

/**
 * What the API says of a command: the text of `result`.
 * @param underWay its outcome is waited for
 */
export function resultOf(command: Command, underWay: boolean): string {
  const { state, channel, reply, failure, expires } = command;
  if (state === "sent" && underWay) return "sent: its outcome is waited for; the record will tell it";
  switch (state) {
    case "delivered":
      if (channel === "sms") return "delivered: the SMS gateway reports that the device has it";
      return reply === null || reply === "" ? "the device answered without a text" : reply;
    case "sent":
      if (failure !== null) return `sent: ${failure}`;
      return channel === "sms" ? "sent: the SMS gateway took it" : "sent, no reply came";
    case "queued":
      return `queued: the device is not connected; it is sent when it connects, until ${formatInstant(expires)}`;
    case "failed":
      return `failed: ${failure ?? "for an unknown reason"}`;
    case "expired":
      return "expired: its time ran out before it could be sent";
    case "cancelled":
      return failure === null ? "cancelled before it was sent" : `cancelled: ${failure}`;
  }
}

/**
 * Throws what is the caller's to mend: a device that expired, text that its protocol can't carry, a gateway to be asked
 * later.
 */
export function throwFailure({ state, encode, sentAt, failure, channel }: Command, retryAfter: number): void {
  if (state !== "failed" || failure === null) return;
  if (channel === "sms" && failure.startsWith(smsUnavailable)) throw new ApiError("unavailable", [failure], retryAfter);
  if (channel === "data" && failure === deviceExpired) throw new ApiError("deviceExpired");
  if (encode && sentAt === null && ![notConnected, noTurn, endedBefore].includes(failure))
    throw new ApiError("badRequest", [`body/command: ${failure}`]);
}
