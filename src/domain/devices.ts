import type { DeviceReplacement, IdReplacement, LimitsReplacement, NewDevice } from "../contract/device.ts";
import { longestSecret, settableDeviceFields, settableLimits } from "../contract/device.ts";
import type { PatchRequest } from "../contract/patch.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Caps, CapsOf } from "../model/caps.ts";
import type { Device, DeviceFields } from "../model/device.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Quarantine } from "../ports/quarantine.ts";
import type { DeviceRefusal, Store } from "../ports/store.ts";
import type { WatchWarnings } from "./alert-rule-rights.ts";
import { unknownFields } from "./bodies.ts";
import { type Cache, createCache, dropWhereMissed } from "./cache.ts";

import { checkAliases, checkMayRegister, mostIdentifiers, refused } from "./device-aliases.ts";
import {
  defaultDailyEmailLimit,
  defaultDailySmsLimit,
  deviceView,
  fieldsOf,
  type HashSecret,
  readExpiry,
  readFields,
} from "./device-fields.ts";
import { createIdChange } from "./device-id-change.ts";
import { createDeviceList, type DeviceList } from "./device-list.ts";
import { patched } from "./json-patch.ts";
import { createChanges } from "./locks.ts";
import type { Visibility } from "./visibility.ts";

/** A device after a change, and what of the change is probably a mistake. */
export interface ChangedDevice {
  readonly device: Device;
  readonly warnings: readonly string[];
}

/**
 * The registered devices, as their users may see and change them. Calls that name a device fail with `deviceNotFound`
 * where it is unknown, of another account, or not visible to the user: the three can't be told apart.
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
  /**
   * The device has another tracker from now on; all that it has is kept. The user must be allowed to register a device
   * with the new id.
   */
  changeId(user: User, id: string, body: IdReplacement): Promise<ChangedDevice>;
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
  readonly store: Pick<Store, "devices" | "accounts">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly visibility: Visibility;
  readonly watchWarnings: WatchWarnings;
  readonly quarantine: Pick<Quarantine, "registered" | "removed" | "unknown">;
  readonly hashSecret: HashSecret;
  readonly capsOf: CapsOf;
  readonly identifiersPerLicense: number;
  /** Key of the account that runs the service. */
  readonly serviceAccount: number;
}

/** The devices over their store; what is read often is kept in memory until the bus says that it changed. */
export function createDevices(context: DevicesContext): Devices {
  const { bus, clock, visibility, watchWarnings, quarantine, hashSecret } = context;
  const store = context.store.devices;
  const cache = keptIn(store, bus, clock);
  const lists = createDeviceList({ store, find: (id) => cache.get(id), bus, clock, visibility });
  // A change is made from what was read before it, so the changes of one device follow each other.
  const alone = createChanges<string>();

  /** The device as the store has it now. */
  async function current(user: User, id: string): Promise<Device> {
    return visible(user, await store.find(id));
  }

  const visible = (user: User, device: Device | undefined) => visibleTo(user, device, visibility);

  const { create, write, checkNew, capsFor, tell } = createWriting(context);
  const changeId = createIdChange({ ...context, store });

  return {
    ...lists,
    find(user, id) {
      const device = cache.get(id);
      return device instanceof Promise ? device.then((found) => visible(user, found)) : visible(user, device);
    },
    async create(user, body) {
      await checkMayRegister(user, body.id, visibility);
      const { fields, warnings } = readFields(body.id, body, hashSecret);
      await checkNew(user, fields);
      return { device: await create(user, fields), warnings };
    },
    replace: (user, id, body) =>
      alone(id, async () => {
        const device = await current(user, id);
        const { fields, warnings } = readFields(id, body, hashSecret, device);
        await checkNew(user, fields, device);
        return { device: await write(device, fields), warnings };
      }),
    patch: (user, id, operations, check) =>
      alone(id, async () => {
        const device = await current(user, id);
        const body = withPatch(device, operations);
        const { fields, warnings } = readFields(id, check(body), hashSecret, device);
        await checkNew(user, fields, device);
        return { device: await write(device, fields), warnings };
      }),
    setLimits: (user, id, body) =>
      alone(id, async () => {
        const device = await current(user, id);
        const warnings = unknownFields(body, settableLimits, shownLimits);
        const caps = await capsFor(user);
        const fields = limitedBy(device, body, caps);
        checkLimits(fields, device, caps);
        return { device: await write(device, fields), warnings };
      }),
    changeId: (user, id, body) => alone(id, async () => changeId(user, await current(user, id), body)),
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

/** Writes devices to the store, and tells of it. */
function createWriting({ store: stores, bus, clock, ...context }: DevicesContext) {
  const { visibility, quarantine, capsOf, serviceAccount } = context;
  const store = stores.devices;
  const most = mostIdentifiers(context);

  async function create(user: User, fields: DeviceFields): Promise<Device> {
    const now = clock.now();
    // It would hold its identifiers without a licence.
    if (fields.expires !== null && fields.expires <= now)
      throw new ApiError("deviceExpired", ["body/expires: has passed; an expired device can't be made"]);
    return changed(await store.create(user.accountKey, fields, now, most));
  }

  async function write(device: Device, fields: DeviceFields): Promise<Device> {
    const result = await store.replace(device.key, fields, clock.now(), most, device);
    if (result === "missing") throw new ApiError("deviceNotFound");
    return changed(result);
  }

  /** Checks the aliases that the device does not have yet. */
  async function checkNew(user: User, { aliases }: DeviceFields, kept?: Device): Promise<void> {
    const giver = { scope: await visibility.scope(user), runsService: user.accountKey === serviceAccount };
    checkAliases(aliases, kept, giver, quarantine);
  }

  async function capsFor(user: User): Promise<Caps> {
    const account = await stores.accounts.find(user.accountKey);
    if (account === undefined) throw new ApiError("deviceNotFound");
    return capsOf(account);
  }

  function changed(result: Device | DeviceRefusal): Device {
    const device = stored(result);
    quarantine.registered([device.id, ...device.aliases]);
    tell(device);
    return device;
  }

  function tell({ accountKey, key, id }: Device): void {
    bus.publish({ type: "deviceChanged", accountKey, key, id });
  }

  return { create, write, checkNew, capsFor, tell };
}

/** The device that the store made or changed. @throws ApiError where it did not */
function stored(result: Device | DeviceRefusal): Device {
  if (typeof result === "string") throw refused(result);
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
  const { id: _, secret, positionDays = null, ...rest } = patched(document, operations, writable);
  const body = { ...rest, positionDays };
  return secret === secretKept ? body : { ...body, secret: secret ?? null };
}

/**
 * A limit that stays as it is may lie above what the operator allows by now; it is not used beyond that. @throws
 * ApiError `limitCapped`
 */
function checkLimits(fields: DeviceFields, kept: Device, { deviceDailyEmails, deviceDailySms }: Caps): void {
  const problems: string[] = [];
  if (fields.dailyEmailLimit > deviceDailyEmails && fields.dailyEmailLimit !== kept.dailyEmailLimit)
    problems.push(`body/dailyEmailLimit: must be <= ${deviceDailyEmails}`);
  if (fields.dailySmsLimit > deviceDailySms && fields.dailySmsLimit !== kept.dailySmsLimit)
    problems.push(`body/dailySmsLimit: must be <= ${deviceDailySms}`);
  if (problems.length > 0) throw new ApiError("limitCapped", problems);
}

/** The device's fields with these limits; those that the body leaves out are reset. */
function limitedBy(device: Device, body: LimitsReplacement, { deviceDailyEmails, deviceDailySms }: Caps): DeviceFields {
  return {
    ...fieldsOf(device),
    expires: readExpiry(body.expires),
    dailyEmailLimit: body.dailyEmailLimit ?? Math.min(defaultDailyEmailLimit, deviceDailyEmails),
    dailySmsLimit: body.dailySmsLimit ?? Math.min(defaultDailySmsLimit, deviceDailySms),
  };
}

function keptIn(store: Store["devices"], bus: Bus, clock: Clock): Cache<string, Device> {
  const load = (id: string) => store.find(id);
  const cache = createCache<string, Device>({ clock, load, maxAgeMs, capacity: keptDevices, mostBytes });
  dropWhereMissed(bus, cache);
  bus.subscribe((event) => {
    if (event.type === "deviceChanged") cache.drop(event.id);
  });
  return cache;
}

function shown(device: Device, seen: boolean): Device {
  if (!seen) throw new ApiError("deviceNotFound");
  return device;
}
