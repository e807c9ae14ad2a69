import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Store } from "../ports/store.ts";
import type { Passwords } from "./passwords.ts";
import type { SecondFactors } from "./second-factor.ts";

/** What a person brings to sign in. */
export interface SignInTry {
  readonly email: string;
  readonly password: string;
  /** Of the second factor, or a recovery code. */
  readonly code?: string | null | undefined;
}

/** The check of a sign-in over what is stored of users. */
export interface SignInCheck {
  /**
   * The user whose password it is; the passwords that come from an address take turns. `marked`: the browser has the
   * mark of the e-mail address. It takes the same time whether the user is there or has a password.
   * @throws ApiError `wrongSignIn`
   */
  password(tried: SignInTry, address: string, marked: boolean): Promise<User>;
  /**
   * Takes the code of the user's second factor, where it has one. @throws ApiError `secondFactorNeeded`: it is missing
   * or wrong
   */
  code(user: User, tried: SignInTry): Promise<void>;
}

/** The check over the users' stored hashes. */
export function createSignInCheck(
  store: Pick<Store, "users">,
  passwords: Pick<Passwords, "matches">,
  secondFactors: Pick<SecondFactors, "takes">,
): SignInCheck {
  return {
    async password({ email, password }, address, marked) {
      const user = await store.users.findByEmail(email);
      const matches = await passwords.matches(
        password,
        user?.passwordSignsIn === true ? user.passwordHash : null,
        address,
        marked,
      );
      if (user === undefined || !matches) throw new ApiError("wrongSignIn");
      return user;
    },
    async code({ key }, { code }) {
      const outcome = await secondFactors.takes(key, code);
      if (outcome !== "taken") throw new ApiError("secondFactorNeeded", [`body/code: is ${outcome}`]);
    },
  };
}
