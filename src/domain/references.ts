import type { Store } from "../ports/store.ts";
import { isNamedBy } from "./visibility.ts";

/** More ids than this are looked up in the list of all the account's devices, fewer each by itself. */
const fewIds = 16;
/** Ids that a sentence names; it counts the others. */
const namedIds = 20;

/** What may be named that does not exist: it is kept, grants nothing, and is warned of. */
export interface References {
  /** Those of the ids that are a device's of the account. */
  registered(accountKey: number, ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** The warnings of ids of devices in a field of a body. */
  devices(accountKey: number, field: string, ids: readonly string[]): Promise<readonly string[]>;
  /** The warnings of the group in a user's body. */
  group(accountKey: number, reference: string | null): Promise<readonly string[]>;
}

/** References looked up in the store. */
export function createReferences(store: Pick<Store, "devices" | "groups">): References {
  async function registered(accountKey: number, ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length > fewIds) return new Set((await store.devices.list(accountKey)).map(({ id }) => id));
    const found = await Promise.all(ids.map((id) => store.devices.find(id)));
    return new Set(found.flatMap((device) => (device?.accountKey === accountKey ? [device.id] : [])));
  }

  return {
    registered,
    async devices(accountKey, field, ids) {
      if (ids.length === 0) return [];
      const known = await registered(accountKey, ids);
      const unknown = [...new Set(ids.filter((id) => !known.has(id)))];
      if (unknown.length === 0) return [];
      return [`body/${field}: no device of the account is registered as ${listed(unknown)}; kept, and grants nothing`];
    },
    async group(accountKey, reference) {
      if (reference === null) return [];
      const groups = await store.groups.list(accountKey);
      if (groups.some((group) => isNamedBy(group, reference))) return [];
      return [`body/group: no group of the account has the id or name ${reference}; kept, and grants nothing`];
    },
  };
}

/** Ids in a sentence: the first of them, and how many more there are. */
export function listed(ids: readonly string[]): string {
  const more = ids.length > namedIds ? ` and ${ids.length - namedIds} more` : "";
  return `${ids.slice(0, namedIds).join(", ")}${more}`;
}
