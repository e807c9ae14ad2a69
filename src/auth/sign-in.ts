import type { User } from "../model/account.ts";
import type { Store } from "../ports/store.ts";
import type { Passwords } from "./passwords.ts";

/** What a person brings to sign in. */
export interface SignInTry {
  readonly email: string;
  readonly password: string;
  /** Of the second factor, or a recovery code. */
  readonly code?: string | null | undefined;
}

/** The user whose password it is; `wrong`: there is none, which takes the same time whether the user is there or has a password. */
export type CheckSignIn = (tried: SignInTry, address: string) => Promise<User | "wrong">;

/** The check over the users' stored hashes. */
export function createSignIn(store: Pick<Store, "users">, passwords: Pick<Passwords, "matches">): CheckSignIn {
  return async ({ email, password }, address) => {
    const user = await store.users.findByEmail(email);
    const matches = await passwords.matches(password, user?.passwordHash ?? null, address);
    return user !== undefined && matches ? user : "wrong";
  };
}
