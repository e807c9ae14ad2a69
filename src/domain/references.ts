import type { Store } from "../ports/store.ts";

/** Ids that a sentence names; it counts the others. */
const namedIds = 20;
/** Ids of one question of the store. */
const askedIds = 500;

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

  /**
   * Unknown ones, looked for until an answer has enough to name: who invents 15,000 ids asks the store once. `left`:
   * not looked at.
   */
  async function firstUnknown(accountKey: number, ids: readonly string[]) {
    const unknown = new Set<string>();
    let at = 0;
    for (; at < ids.length && unknown.size <= namedIds; at += askedIds) {
      const some = ids.slice(at, at + askedIds);
      const known = await registered(accountKey, some);
      for (const id of some) if (!known.has(id)) unknown.add(id);
    }
    return { unknown: [...unknown], left: Math.max(0, ids.length - at) };
  }

  return {
    registered,
    async devices(accountKey, field, ids) {
      if (ids.length === 0) return [];
      const { unknown, left } = await firstUnknown(accountKey, ids);
      if (unknown.length === 0) return [];
      const rest = left === 0 ? "" : `, and perhaps some of the ${left} after them`;
      return [
        `body/${field}: no device of the account is registered as ${listed(unknown)}${rest}; kept, and grants nothing`,
      ];
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
