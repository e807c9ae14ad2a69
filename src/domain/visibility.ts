import { holds, type User } from "../model/account.ts";
import type { Device } from "../model/device.ts";
import type { Group } from "../model/group.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { GroupStore } from "../ports/store.ts";
import { createCache } from "./cache.ts";

/** The devices that a user may see: all of its account, or those of its account with these ids. */
export interface DeviceScope {
  readonly all: boolean;
  readonly ids: ReadonlySet<string>;
}

/**
 * What a user sees of its account: with `admin` all of it, else the devices of its group and its own one. The only place that decides it.
 * Answers at once where it needs no group or the group is in memory: the way of nearly every request.
 */
export interface Visibility {
  scope(user: User): DeviceScope | Promise<DeviceScope>;
  sees(user: User, device: Device): boolean | Promise<boolean>;
}

/** What visibility needs of the service. */
export interface VisibilityContext {
  readonly groups: Pick<GroupStore, "list">;
  readonly bus: Bus;
  readonly clock: Clock;
}

/** Accounts whose groups are kept in memory, those that users of groups ask about: at 10,000 devices of an account some 1 MB. */
const keptAccounts = 2000;
/** Age at which kept groups are read again, should the event of a change be lost. */
const maxAgeMs = 30_000;

const everything: DeviceScope = { all: true, ids: new Set() };
const none: ReadonlySet<string> = new Set();

/** Ids of the devices of an account's groups, by the text that a user's `group` names them with. */
type Members = (reference: string) => ReadonlySet<string>;

/** Visibility over the groups of the store; those of an account are kept until the bus says that one changed. */
export function createVisibility({ groups, bus, clock }: VisibilityContext): Visibility {
  const cache = createCache<number, Members>({
    clock,
    load: async (accountKey) => membersOf(await groups.list(accountKey)),
    maxAgeMs,
    capacity: keptAccounts,
  });
  bus.subscribe((event) => {
    if (event.type === "groupChanged") cache.drop(event.accountKey);
  });

  /** `use` on the ids of the devices of the user's group. */
  function withMembers<T>({ accountKey, group }: User, use: (ids: ReadonlySet<string>) => T): T | Promise<T> {
    if (group === null) return use(none);
    const members = cache.get(accountKey);
    return members instanceof Promise
      ? members.then((loaded) => use(loaded?.(group) ?? none))
      : use(members?.(group) ?? none);
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

/** Whether a user's `group` means this group: by its id or its name. Names are not unique; a name means all groups that have it. */
export function isNamedBy(group: Pick<Group, "id" | "name">, reference: string | null): boolean {
  return reference !== null && (group.id === reference || group.name === reference);
}

/** Whether a user may see a group: with `admin` all of its account, else its own. */
export function seesGroup(user: User, group: Group): boolean {
  return group.accountKey === user.accountKey && (holds(user, "admin") || isNamedBy(group, user.group));
}

/** A set is made only for what a user's `group` names. */
function membersOf(groups: readonly Group[]): Members {
  const sets = new Map<string, ReadonlySet<string>>();
  return (reference) => {
    let ids = sets.get(reference);
    if (ids === undefined) {
      ids = new Set(groups.flatMap((group) => (isNamedBy(group, reference) ? (group.devices ?? []) : [])));
      sets.set(reference, ids);
    }
    return ids;
  };
}
