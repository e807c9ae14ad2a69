import type { Store } from "../ports/store.ts";

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
  function registered(accountKey: number, ids: readonly string[]): Promise<ReadonlySet<string>> {
    return store.devices.existing(accountKey, ids);
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
      const named = await store.groups.page(accountKey, { limit: 1, bytes: 0 }, reference);
      if (named.rows.length > 0) return [];
      return [`body/group: no group of the account has the id or name ${reference}; kept, and grants nothing`];
    },
  };
}

/** Ids in a sentence: the first of them, and how many more there are. */
export function listed(ids: readonly string[]): string {
  const more = ids.length > namedIds ? ` and ${ids.length - namedIds} more` : "";
  return `${ids.slice(0, namedIds).join(", ")}${more}`;
}
