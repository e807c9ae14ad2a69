import type { Ids } from "../ports/ids.ts";
import type { Store } from "../ports/store.ts";

/** Where the hash of the link's token stands. */
export const firstTokenSetting = "firstTokenHash";

/** What making the link for the owner's first password needs of the service. */
export interface FirstLinkContext {
  readonly store: Pick<Store, "accounts" | "users">;
  readonly ids: Ids;
  /** Makes a token (src/auth/session-token.ts). */
  readonly makeToken: (ids: Ids) => { readonly token: string; readonly hash: string };
  readonly hashToken: (token: string) => string | undefined;
  /** The token that was kept, where somebody can read it. */
  readonly kept: () => Promise<string | undefined>;
  /** Keeps a token for the owner. Done before it counts: so a start that is killed leaves none that nobody knows. */
  readonly keep: (token: string) => Promise<void>;
}

/**
 * The token of the link that sets the password of the first account's owner. Undefined: it has a password to sign in
 * with, so the link is good no more, or the token was lost.
 */
export async function firstToken(context: FirstLinkContext): Promise<string | undefined> {
  const { store, ids, makeToken, hashToken, kept, keep } = context;
  const account = (await store.accounts.page({ limit: 1 })).rows[0];
  const owner = account && (await store.users.findOwner(account.key));
  if (owner === undefined || owner.passwordSignsIn) return undefined;
  const known = await store.accounts.findSetting(firstTokenSetting);
  if (known === undefined) {
    const { token, hash } = makeToken(ids);
    await keep(token);
    return (await store.accounts.setting(firstTokenSetting, () => hash)) === hash ? token : undefined;
  }
  const token = await kept();
  return token !== undefined && hashToken(token) === known ? token : undefined;
}
