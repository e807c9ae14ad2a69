import { holds, type User } from "../model/account.ts";
import type { Device } from "../model/device.ts";

/** The devices that a user may see: all of its account, or those with these ids. */
export interface DeviceScope {
  readonly all: boolean;
  readonly ids: readonly string[];
}

const everything: DeviceScope = { all: true, ids: [] };
const nothing: DeviceScope = { all: false, ids: [] };

/** What a user sees of its account's devices: with `admin` all of them, else its own one. The only place that decides it. */
export function visibleDevices(user: User): DeviceScope {
  if (holds(user, "admin")) return everything;
  return user.deviceId === null ? nothing : { all: false, ids: [user.deviceId] };
}

/** Whether a user may see this device. */
export function sees(user: User, device: Device): boolean {
  if (device.accountKey !== user.accountKey) return false;
  const scope = visibleDevices(user);
  return scope.all || scope.ids.includes(device.id);
}
