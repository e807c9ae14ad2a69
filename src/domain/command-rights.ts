import { ApiError } from "../errors/catalogue.ts";
import { isOutsideWindow } from "../model/account.ts";
import { type Command, mayCommand } from "../model/command.ts";
import type { Device } from "../model/device.ts";
import type { Clock } from "../ports/clock.ts";
import type { CommandStore } from "../ports/command-store.ts";
import type { UserStore } from "../ports/store.ts";
import type { Devices } from "./devices.ts";

/** What the check needs of the service. Users are read from the store: a right that was taken away counts at once. */
export interface CommandRightsContext {
  readonly store: {
    readonly users: Pick<UserStore, "findByKey">;
    readonly commands: Pick<CommandStore, "step">;
  };
  readonly devices: Pick<Devices, "find">;
  readonly clock: Clock;
}

/**
 * Cancels a queued command whose user may not send it any more, with the reason in its record. True: it must not be
 * sent. Asked when its turn has come, which may be days after the user asked for it.
 */
export async function cancelWithoutRight(
  context: CommandRightsContext,
  device: Pick<Device, "id">,
  command: Pick<Command, "key" | "userKey" | "channel">,
): Promise<boolean> {
  const failure = await lostRight(context, device, command);
  if (failure === undefined) return false;
  const finishedAt = context.clock.now();
  await context.store.commands.step(command.key, ["queued"], "cancelled", { finishedAt, failure });
  return true;
}

/** Why the user may not send the command now, in a sentence; undefined: it may. */
async function lostRight(
  { store, devices, clock }: CommandRightsContext,
  device: Pick<Device, "id">,
  { userKey, channel }: Pick<Command, "userKey" | "channel">,
): Promise<string | undefined> {
  const user = await store.users.findByKey(userKey);
  if (user === undefined) return "the user who asked for it was deleted";
  if (user.disabled) return "the user who asked for it was disabled";
  if (isOutsideWindow(user, clock.now())) return "the time of the user who asked for it is over";
  if (!mayCommand(user, channel)) return "the user who asked for it may not send commands any more";
  try {
    await devices.find(user, device.id);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.code === "deviceNotFound")
      return "the user who asked for it does not see the device any more";
    throw error;
  }
}
