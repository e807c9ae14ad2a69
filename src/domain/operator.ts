import type { Ids } from "../ports/ids.ts";
import type { Store } from "../ports/store.ts";

/** Where the hash of the operator's key stands. */
const setting = "operatorKeyHash";

/** What making the operator's key needs of the service. */
export interface OperatorContext {
  readonly store: Pick<Store, "accounts">;
  readonly ids: Ids;
  /** Makes a key (src/auth/api-key.ts). */
  readonly makeKey: (ids: Ids) => { readonly secret: string; readonly hash: string };
  /**
   * Keeps the key for the operator. Done before the key counts: so a start that is killed leaves none that nobody
   * knows.
   */
  readonly keep: (secret: string) => Promise<void>;
}

/** The operator's key as it counts from now on: its hash, and itself where it was made just now. */
export interface OperatorKey {
  readonly hash: string;
  readonly created?: string;
}

/**
 * The operator's key; made where there is none yet, on the first start or the first one of a version that knows
 * operators.
 */
export async function bootstrapOperator({ store, ids, makeKey, keep }: OperatorContext): Promise<OperatorKey> {
  const known = await store.accounts.findSetting(setting);
  if (known !== undefined) return { hash: known };
  const { secret, hash } = makeKey(ids);
  await keep(secret);
  return { hash: await store.accounts.setting(setting, () => hash), created: secret };
}
