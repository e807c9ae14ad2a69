import type { IdReplacement } from "../contract/device.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Device, DeviceFields } from "../model/device.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Quarantine } from "../ports/quarantine.ts";
import type { DeviceStore } from "../ports/store.ts";
import { unknownFields } from "./bodies.ts";
import { checkMayRegister, mostIdentifiers, refused } from "./device-aliases.ts";
import { fieldsOf } from "./device-fields.ts";
import type { Visibility } from "./visibility.ts";

/** What a change of an id needs of the service. */
export interface IdChangeContext {
  readonly store: Pick<DeviceStore, "changeId">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly visibility: Visibility;
  readonly quarantine: Pick<Quarantine, "registered" | "removed">;
  readonly identifiersPerLicense: number;
}

/** Gives a device the id of another tracker: see `Devices.changeId`. */
export function createIdChange(context: IdChangeContext) {
  const { store, bus, clock, visibility, quarantine } = context;

  async function renamed(before: Device, id: string): Promise<Device> {
    const fields = fieldsWithId(before, id);
    const result = await store.changeId(before.key, fields, clock.now(), mostIdentifiers(context), before);
    if (result === "missing") throw new ApiError("deviceNotFound");
    if (typeof result === "string") throw refused(result);
    const { accountKey, key } = result.device;
    quarantine.removed(before.id);
    quarantine.registered([id]);
    bus.publish({ type: "deviceChanged", accountKey, key, id: before.id });
    bus.publish({ type: "deviceChanged", accountKey, key, id, formerId: before.id });
    bus.publish({ type: "groupChanged", accountKey });
    bus.publish({ type: "rulesChanged", accountKey });
    for (const user of result.users) bus.publish({ type: "userChanged", accountKey, key: user });
    return result.device;
  }

  return async (user: User, device: Device, body: IdReplacement) => {
    await checkMayRegister(user, body.id, visibility);
    const warnings = unknownFields(body, ["id"], []);
    return { device: body.id === device.id ? device : await renamed(device, body.id), warnings };
  };
}

/** The device's fields with another id. A device without a name is called by its id. */
function fieldsWithId(device: Device, id: string): DeviceFields {
  const name = device.name === device.id ? id : device.name;
  return { ...fieldsOf(device), id, name, aliases: device.aliases.filter((alias) => alias !== id) };
}
