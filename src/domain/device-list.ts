import type { User } from "../model/account.ts";
import type { Device } from "../model/device.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { DeviceStore } from "../ports/store.ts";
import { createCache } from "./cache.ts";
import { deviceView } from "./device-fields.ts";
import type { DeviceScope, Visibility } from "./visibility.ts";

/** The lists of devices that users ask for again and again, as text that is ready. */
export interface DeviceList {
  /** The devices that have not expired and the user may see, by id: JSON objects with commas between them, UTF-8. At once where it is in memory. */
  list(user: User): Uint8Array | Promise<Uint8Array>;
}

/** What the lists need of the service. */
export interface DeviceListContext {
  readonly store: Pick<DeviceStore, "list">;
  /** One device, from memory where it is there. */
  readonly find: (id: string) => Device | undefined | Promise<Device | undefined>;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly visibility: Visibility;
}

/** A device of a list. */
interface Entry {
  readonly id: string;
  readonly expires: number;
  readonly json: string;
}

/** Text of an account's whole list, right while nothing expires: from `from` on, before `until`. */
interface Whole {
  readonly json: Uint8Array;
  readonly from: number;
  readonly until: number;
}

/** What is kept of an account, some 0.6 KB for each device. */
interface AccountDevices {
  readonly entries: readonly Entry[];
  whole: Whole;
}

/** Accounts whose lists are kept. Each device is in one list only, so all lists together are no more than the service's devices. */
const keptAccounts = 2000;
/** Age at which a kept list is read again, should the event of a change be lost. */
const maxAgeMs = 30_000;
/** A user who sees more devices than this has them picked from the account's list, others each by its id. */
const fewDevices = 8;

/** The lists over their store; those of an account are kept until the bus says that one of its devices changed. */
export function createDeviceList({ store, find, bus, clock, visibility }: DeviceListContext): DeviceList {
  const cache = createCache<number, AccountDevices>({
    clock,
    load: async (accountKey) => {
      const entries = (await store.list(accountKey)).map(entryOf);
      return { entries, whole: wholeOf(entries, clock.now()) };
    },
    maxAgeMs,
    capacity: keptAccounts,
  });
  bus.subscribe((event) => {
    if (event.type === "deviceChanged") cache.drop(event.accountKey);
  });

  function inScope(user: User, { all, ids }: DeviceScope): Uint8Array | Promise<Uint8Array> {
    if (!all && ids.size <= fewDevices) return few(user, ids);
    const kept = cache.get(user.accountKey);
    return kept instanceof Promise ? kept.then((read) => listed(read, all, ids)) : listed(kept, all, ids);
  }

  function listed(kept: AccountDevices | undefined, all: boolean, ids: ReadonlySet<string>): Uint8Array {
    if (kept === undefined) return new Uint8Array();
    const now = clock.now();
    if (!all) return joined(kept.entries.filter(({ id, expires }) => now < expires && ids.has(id)));
    if (now < kept.whole.from || now >= kept.whole.until) kept.whole = wholeOf(kept.entries, now);
    return kept.whole.json;
  }

  async function few({ accountKey }: User, ids: ReadonlySet<string>): Promise<Uint8Array> {
    const found = await Promise.all([...ids].toSorted().map(find));
    const own = found.filter((device) => device !== undefined).filter((device) => device.accountKey === accountKey);
    const now = clock.now();
    return joined(own.map(entryOf).filter(({ expires }) => now < expires));
  }

  return {
    list(user) {
      const scope = visibility.scope(user);
      return scope instanceof Promise ? scope.then((read) => inScope(user, read)) : inScope(user, scope);
    },
  };
}

function entryOf(device: Device): Entry {
  return {
    id: device.id,
    expires: device.expires ?? Number.POSITIVE_INFINITY,
    json: JSON.stringify(deviceView(device)),
  };
}

function wholeOf(entries: readonly Entry[], now: number): Whole {
  const active = entries.filter(({ expires }) => now < expires);
  const until = active.reduce((earliest, { expires }) => Math.min(earliest, expires), Number.POSITIVE_INFINITY);
  // A clock that is set back makes devices active again.
  const from = entries.reduce((latest, { expires }) => (expires <= now ? Math.max(latest, expires) : latest), 0);
  return { json: joined(active), from, until };
}

function joined(entries: readonly Entry[]): Uint8Array {
  return Buffer.from(entries.map(({ json }) => json).join(","));
}
