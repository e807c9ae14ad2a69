import type { User } from "../model/account.ts";
import type { Device } from "../model/device.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { PageAsk } from "../ports/pages.ts";
import type { DeviceStore } from "../ports/store.ts";
import { createCache, dropWhereMissed } from "./cache.ts";
import { deviceView } from "./device-fields.ts";
import type { Listed } from "./listed.ts";
import type { DeviceScope, Visibility } from "./visibility.ts";

/** The lists of devices that users ask for again and again, as text that is ready. */
export interface DeviceList {
  /**
   * The devices that have not expired and the user may see, by id: JSON objects with commas between them, UTF-8. At
   * once where it is in memory. Undefined: they are too many to hold them all; `page` has them.
   */
  list(user: User): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** The same as JSON objects, by pages that follow an id. */
  page(user: User, ask: PageAsk<string>): Promise<Listed<string, string>>;
}

/** What the lists need of the service. */
export interface DeviceListContext {
  readonly store: Pick<DeviceStore, "page" | "some">;
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

/** Text of an account's whole list, right while nothing expires before `until`. */
interface Whole {
  readonly json: Uint8Array;
  readonly until: number;
}

/** What is kept of an account; no text: its list is too long. */
interface AccountDevices {
  readonly entries: readonly Entry[];
  readonly whole: Whole | undefined;
  /** When it was read: a wall clock that is set back before it may make devices active again. */
  readonly readAt: number;
}

/** Accounts whose lists are kept. */
const keptAccounts = 2000;
/**
 * Bytes of one account's list that is kept: some 10,000 devices. Beyond that it is read anew for each answer, in
 * pieces.
 */
const mostOfAccount = 2_097_152;
/** Bytes of the lists of all accounts. */
const mostBytes = 67_108_864;
/** Age at which a kept list is read again, should the event of a change be lost. */
const maxAgeMs = 30_000;
/** A user who sees no more devices than this has each found in memory. */
const fewDevices = 8;
/** Devices of one question of the store. */
const askedDevices = 500;

/** The lists over their store; those of an account are kept until the bus says that one of its devices changed. */
export function createDeviceList({ store, find, bus, clock, visibility }: DeviceListContext): DeviceList {
  const cache = createCache<number, AccountDevices>({ clock, load, maxAgeMs, capacity: keptAccounts, mostBytes });
  dropWhereMissed(bus, cache);
  bus.subscribe((event) => {
    if (event.type === "deviceChanged") cache.drop(event.accountKey);
  });

  async function load(accountKey: number): Promise<AccountDevices> {
    const readAt = clock.now();
    const entries: Entry[] = [];
    let bytes = 0;
    for (let after: string | undefined; ; ) {
      const ask = { after, limit: askedDevices, bytes: mostOfAccount };
      const { rows, more } = await store.page(accountKey, readAt, ask);
      for (const device of rows) {
        const entry = entryOf(device);
        bytes += entry.json.length;
        entries.push(entry);
      }
      if (bytes > mostOfAccount) return { entries: [], whole: undefined, readAt };
      if (!more) return { entries, whole: wholeOf(entries), readAt };
      after = rows.at(-1)?.id;
    }
  }

  function inScope(user: User, scope: DeviceScope): ReturnType<DeviceList["list"]> {
    if (!scope.all && scope.ids.size <= fewDevices) return few(user, scope.ids);
    const kept = current(user.accountKey);
    return kept instanceof Promise ? kept.then((read) => seen(read, scope)) : seen(kept, scope);
  }

  /** What is kept of an account, read anew where the clock was set back. */
  function current(accountKey: number): ReturnType<typeof cache.get> {
    const kept = cache.get(accountKey);
    if (kept instanceof Promise || kept === undefined || clock.now() >= kept.readAt) return kept;
    cache.drop(accountKey);
    return cache.get(accountKey);
  }

  function seen(kept: AccountDevices | undefined, { all, ids }: DeviceScope): Uint8Array | undefined {
    if (kept?.whole === undefined) return undefined;
    const now = clock.now();
    if (all && now < kept.whole.until) return kept.whole.json;
    return joined(kept.entries.filter(({ id, expires }) => now < expires && (all || ids.has(id))));
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
    async page(user, ask) {
      const { all, ids } = await visibility.scope(user);
      if (!all) return pageOfSome({ store, clock }, user.accountKey, ids, ask);
      const { rows, more } = await store.page(user.accountKey, clock.now(), ask);
      const last = more ? rows.at(-1) : undefined;
      return { items: rows.map((device) => entryOf(device).json), ...(last && { next: last.id }) };
    },
  };
}

/** A page of those of the ids that are there. */
async function pageOfSome(
  { store, clock }: Pick<DeviceListContext, "store" | "clock">,
  accountKey: number,
  ids: ReadonlySet<string>,
  { after = "", limit, bytes }: PageAsk<string>,
): Promise<Listed<string, string>> {
  const asked = [...ids].filter((id) => id > after).toSorted();
  const items: string[] = [];
  let left = bytes;
  for (let at = 0; at < asked.length; at += askedDevices) {
    const found = await store.some(accountKey, asked.slice(at, at + askedDevices), clock.now());
    for (const device of found) {
      const { json } = entryOf(device);
      if (items.length === limit || (items.length > 0 && json.length > left)) return { items, next: lastOf(items) };
      items.push(json);
      left -= json.length;
    }
  }
  return { items };
}

function lastOf(items: readonly string[]): string {
  const { id } = JSON.parse(items.at(-1) ?? "{}");
  return String(id);
}

function entryOf(device: Device): Entry {
  return {
    id: device.id,
    expires: device.expires ?? Number.POSITIVE_INFINITY,
    json: JSON.stringify(deviceView(device)),
  };
}

function wholeOf(entries: readonly Entry[]): Whole {
  const until = entries.reduce((earliest, { expires }) => Math.min(earliest, expires), Number.POSITIVE_INFINITY);
  return { json: joined(entries), until };
}

function joined(entries: readonly Entry[]): Uint8Array {
  return Buffer.from(entries.map(({ json }) => json).join(","));
}
