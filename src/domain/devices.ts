import type { DeviceReplacement, LimitsReplacement, NewDevice } from "../contract/device.ts";
import { longestSecret, settableDeviceFields, settableLimits } from "../contract/device.ts";
import type { PatchRequest } from "../contract/patch.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Device, DeviceFields } from "../model/device.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Quarantine } from "../ports/quarantine.ts";
import type { Store } from "../ports/store.ts";
import type { WatchWarnings } from "./alert-rule-rights.ts";
import { unknownFields } from "./bodies.ts";
import { type Cache, createCache } from "./cache.ts";
import {
  defaultDailyEmailLimit,
  defaultDailySmsLimit,
  deviceView,
  type HashSecret,
  readExpiry,
  readFields,
} from "./device-fields.ts";
import { createDeviceList, type DeviceList } from "./device-list.ts";
import { patched } from "./json-patch.ts";
import { createLocks } from "./locks.ts";
import type { Visibility } from "./visibility.ts";

/** A device after a change, and what of the change is probably a mistake. */
export interface ChangedDevice {
  readonly device: Device;
  readonly warnings: readonly string[];
}

/**
 * The registered devices, as their users may see and change them. Calls that name a device fail with `deviceNotFound` where it is unknown, of
 * another account, or not visible to the user: the three can't be told apart.
 */
export interface Devices extends DeviceList {
  /** From memory where it is there: for reading. */
  find(user: User, id: string): Device | Promise<Device>;
  create(user: User, body: NewDevice): Promise<ChangedDevice>;
  replace(user: User, id: string, body: DeviceReplacement): Promise<ChangedDevice>;
  /** `check` is the check of a PUT's body; it throws an ApiError. */
  patch(
    user: User,
    id: string,
    operations: PatchRequest,
    check: (body: unknown) => DeviceReplacement,
  ): Promise<ChangedDevice>;
  setLimits(user: User, id: string, body: LimitsReplacement): Promise<ChangedDevice>;
  /** Answers warnings: of the rules that named it. */
  remove(user: User, id: string): Promise<readonly string[]>;
}

/** Devices kept in memory: all of a service of the default size, some 1 KB each. */
const keptDevices = 20_000;
/** Bytes of all of them, should they have long texts. */
const mostBytes = 33_554_432;
/** Age at which a kept device is read again, should the event of its change be lost. */
const maxAgeMs = 30_000;

const writable: ReadonlySet<string> = new Set(settableDeviceFields);
/** Counters that a body may hold as they were answered; they can't be set. */
const shownLimits: readonly string[] = ["emailsSentToday", "smsSentToday"];

/** What the devices need of the service. */
export interface DevicesContext {
  readonly store: Pick<Store, "devices">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly visibility: Visibility;
  readonly watchWarnings: WatchWarnings;
  readonly quarantine: Pick<Quarantine, "registered" | "removed">;
  readonly hashSecret: HashSecret;
}

/** The devices over their store; what is read often is kept in memory until the bus says that it changed. */
export function createDevices({ store: { devices: store }, bus, clock, ...context }: DevicesContext): Devices {
  const { visibility, watchWarnings, quarantine, hashSecret } = context;
  const cache = keptIn(store, bus, clock);
  const lists = createDeviceList({ store, find: (id) => cache.get(id), bus, clock, visibility });
  // A change is made from what was read before it, so the changes of one device follow each other.
  const alone = createLocks<string>();

  /** The device as the store has it now. */
  async function current(user: User, id: string): Promise<Device> {
    return visible(user, await store.find(id));
  }

  const visible = (user: User, device: Device | undefined) => visibleTo(user, device, visibility);

  async function write(device: Device, fields: DeviceFields): Promise<Device> {
    const result = await store.replace(device.key, fields, clock.now());
    if (result === "missing") throw new ApiError("deviceNotFound");
    return changed(result);
  }

  function changed(result: Device | "exists" | "noLicense"): Device {
    const device = stored(result);
    quarantine.registered([device.id, ...device.aliases]);
    tell(device);
    return device;
  }

  function tell({ accountKey, key, id }: Device): void {
    bus.publish({ type: "deviceChanged", accountKey, key, id });
  }

  return {
    ...lists,
    find(user, id) {
      const device = cache.get(id);
      return device instanceof Promise ? device.then((found) => visible(user, found)) : visible(user, device);
    },
    async create(user, body) {
      const scope = await visibility.scope(user);
      if (!scope.all && !scope.ids.has(body.id)) throw new ApiError("permissionDenied");
      const { fields, warnings } = readFields(body.id, body, hashSecret);
      return { device: changed(await store.create(user.accountKey, fields, clock.now())), warnings };
    },
    replace: (user, id, body) =>
      alone(id, async () => {
        const device = await current(user, id);
        const { fields, warnings } = readFields(id, body, hashSecret, device);
        return { device: await write(device, fields), warnings };
      }),
    patch: (user, id, operations, check) =>
      alone(id, async () => {
        const device = await current(user, id);
        const body = withPatch(device, operations);
        const { fields, warnings } = readFields(id, check(body), hashSecret, device);
        return { device: await write(device, fields), warnings };
      }),
    setLimits: (user, id, body) =>
      alone(id, async () => {
        const device = await current(user, id);
        const warnings = unknownFields(body, settableLimits, shownLimits);
        return { device: await write(device, limitedBy(device, body)), warnings };
      }),
    remove: (user, id) =>
      alone(id, async () => {
        const device = await current(user, id);
        const warnings = await watchWarnings(user, { device: id });
        if (!(await store.remove(device.key))) throw new ApiError("deviceNotFound");
        quarantine.removed(id);
        tell(device);
        return warnings;
      }),
  };
}

/** The device that the store made or changed. @throws ApiError where it did not */
function stored(result: Device | "exists" | "noLicense"): Device {
  if (result === "exists")
    throw new ApiError("deviceExists", ["body: the id or an alias is a registered device's already"]);
  if (result === "noLicense") throw new ApiError("noLicense");
  return result;
}

/** A device where the user sees it. @throws ApiError `deviceNotFound` */
function visibleTo(user: User, device: Device | undefined, visibility: Visibility): Device | Promise<Device> {
  if (device === undefined) throw new ApiError("deviceNotFound");
  const seen = visibility.sees(user, device);
  return seen instanceof Promise ? seen.then((sees) => shown(device, sees)) : shown(device, seen);
}

/** What stands for the secret while a patch is made; longer than any secret, so it is nobody's. */
const secretKept = "*".repeat(longestSecret + 1);

/** The body of a PUT that does what the patch does. */
function withPatch(device: Device, operations: PatchRequest): object {
  const { secretSet, ...view } = deviceView(device);
  const document = { ...view, secret: secretSet ? secretKept : null };
  const { id: _, secret, ...body } = patched(document, operations, writable);
  return secret === secretKept ? body : { ...body, secret: secret ?? null };
}

/** The device's fields with these limits; those that the body leaves out are reset. */
function limitedBy(device: Device, body: LimitsReplacement): DeviceFields {
  const {
    key: _key,
    accountKey: _account,
    creation: _creation,
    modification: _modification,
    spoken: _spoken,
    ...fields
  } = device;
  return {
    ...fields,
    expires: readExpiry(body.expires),
    dailyEmailLimit: body.dailyEmailLimit ?? defaultDailyEmailLimit,
    dailySmsLimit: body.dailySmsLimit ?? defaultDailySmsLimit,
  };
}

function keptIn(store: Store["devices"], bus: Bus, clock: Clock): Cache<string, Device> {
  const load = (id: string) => store.find(id);
  const cache = createCache<string, Device>({ clock, load, maxAgeMs, capacity: keptDevices, mostBytes });
  bus.subscribe((event) => {
    if (event.type === "deviceChanged") cache.drop(event.id);
  });
  return cache;
}

function shown(device: Device, seen: boolean): Device {
  if (!seen) throw new ApiError("deviceNotFound");
  return device;
}
