import { holds, type User } from "../model/account.ts";
import type { Device } from "../model/device.ts";
import type { Group } from "../model/group.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { GroupStore } from "../ports/groups.ts";
import { eachOf } from "../ports/pages.ts";
import { createCache, dropWhereMissed } from "./cache.ts";

/** The devices that a user may see: all of its account, or those of its account with these ids. */
export interface DeviceScope {
  readonly all: boolean;
  readonly ids: ReadonlySet<string>;
}

/**
 * What a user sees of its account: with `admin` all of it, else the devices of its group and its own one. The only
 * place that decides it. Answers at once where it needs no group or the group is in memory: the way of nearly every
 * request.
 */
export interface Visibility {
  scope(user: User): DeviceScope | Promise<DeviceScope>;
  sees(user: User, device: Device): boolean | Promise<boolean>;
}

/** What visibility needs of the service. */
export interface VisibilityContext {
  readonly groups: Pick<GroupStore, "page">;
  readonly bus: Bus;
  readonly clock: Clock;
}

/** Groups of users whose devices' ids are kept in memory. */
const keptGroups = 20_000;
/** Bytes of all of them: those of 1,000 fleets of 1,000 devices. */
const mostBytes = 67_108_864;
/** Age at which kept groups are read again, should the event of a change be lost. */
const maxAgeMs = 30_000;

const everything: DeviceScope = { all: true, ids: new Set() };
const none: ReadonlySet<string> = new Set();

/**
 * Visibility over the groups of the store; the devices of those that users have are kept until the bus says that one of
 * the account changed.
 */
export function createVisibility({ groups, bus, clock }: VisibilityContext): Visibility {
  async function membersOf(accountKey: number, reference: string): Promise<ReadonlySet<string>> {
    const ids = new Set<string>();
    for await (const { devices } of eachOf((ask) => groups.page(accountKey, ask, reference)))
      for (const id of devices ?? []) ids.add(id);
    return ids;
  }

  const cache = createCache<string, ReadonlySet<string>>({
    clock,
    load: (key) => {
      const at = key.indexOf(" ");
      return membersOf(Number(key.slice(0, at)), key.slice(at + 1));
    },
    maxAgeMs,
    capacity: keptGroups,
    mostBytes,
  });
  dropWhereMissed(bus, cache);
  bus.subscribe((event) => {
    if (event.type === "groupChanged") cache.dropAll((key) => key.startsWith(`${event.accountKey} `));
  });

  /** `use` on the ids of the devices of the user's group. */
  function withMembers<T>({ accountKey, group }: User, use: (ids: ReadonlySet<string>) => T): T | Promise<T> {
    if (group === null) return use(none);
    const members = cache.get(`${accountKey} ${group}`);
    return members instanceof Promise ? members.then((ids) => use(ids ?? none)) : use(members ?? none);
  }

  return {
    scope(user) {
      if (holds(user, "admin")) return everything;
      return withMembers(user, (ids) => ({
        all: false,
        ids: user.deviceId === null ? ids : new Set([...ids, user.deviceId]),
      }));
    },
    sees(user, device) {
      if (device.accountKey !== user.accountKey) return false;
      if (user.deviceId === device.id || holds(user, "admin")) return true;
      return withMembers(user, (ids) => ids.has(device.id));
    },
  };
}

/**
 * Whether a user's `group` means this group: by its id or its name. Names are not unique; a name means all groups that
 * have it.
 */
export function isNamedBy(group: Pick<Group, "id" | "name">, reference: string | null): boolean {
  return reference !== null && (group.id === reference || group.name === reference);
}

/** Whether a user may see a group: with `admin` all of its account, else its own. */
export function seesGroup(user: User, group: Group): boolean {
  return group.accountKey === user.accountKey && (holds(user, "admin") || isNamedBy(group, user.group));
}
