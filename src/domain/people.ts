import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Letters } from "../ports/letters.ts";
import type { Log } from "../ports/log.ts";
import type { Store } from "../ports/store.ts";
import { firstTokenSetting } from "./first-password.ts";
import { createChanges } from "./locks.ts";
import type { SignIns } from "./sign-ins.ts";
import { createTelling } from "./user-telling.ts";

/** A new password, and what proves who sets it. */
export interface PasswordChange {
  readonly presentSecret: string;
  readonly password: string;
}

/** What people change of their own way in. What outlasts a session asks for the present API key or password. */
export interface People {
  /**
   * Sets the password of the first account's owner, once. @throws ApiError `linkNotValid`, or what `hashPassword`
   * throws
   */
  setFirstPassword(token: string, password: string): Promise<User>;
  /**
   * Ends all other sessions of the user. `signIn`: key of the one that stays. @throws ApiError what `checkPresent` and
   * `hashPassword` throw
   */
  changePassword(user: User, change: PasswordChange, signIn: number): Promise<void>;
  /** @throws ApiError `secondFactorSet`, or what `checkPresent` throws */
  beginFactor(user: User, presentSecret: string): Promise<{ readonly secret: string; readonly uri: string }>;
  /** Gives the recovery codes. @throws ApiError `noSecondFactor`, `secondFactorSet`, `wrongCode` */
  confirmFactor(user: User, code: string): Promise<readonly string[]>;
  /**
   * Of the caller, or of another user that it may change. @throws ApiError `noSecondFactor`, `ownerProtected`, or what
   * `checkPresent` throws
   */
  endFactor(caller: User, user: User, presentSecret: string): Promise<void>;
}

/** What they need of the service. */
export interface PeopleContext {
  readonly store: Pick<Store, "users" | "accounts">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly letters: Letters;
  readonly signIns: Pick<SignIns, "end">;
  /** The first account. */
  readonly serviceAccount: number;
  /** src/auth/passwords.ts */
  readonly hashPassword: (password: string, accountKey: number, least: number) => Promise<string>;
  /** src/auth/session-token.ts */
  readonly hashToken: (token: string) => string | undefined;
  /** src/auth/present.ts */
  readonly checkPresent: (user: User, secret: string) => Promise<void>;
  /** src/auth/second-factor.ts */
  readonly secondFactors: {
    begin(user: User): Promise<{ readonly secret: string; readonly uri: string }>;
    confirm(user: User, code: string): Promise<readonly string[]>;
    end(userKey: number): Promise<void>;
  };
  /** Fewest characters of a password that a person sets for itself. */
  readonly leastPassword: number;
}

/** People over the store of users. */
export function createPeople(context: PeopleContext): People {
  const { store, bus, clock, signIns, secondFactors, checkPresent } = context;
  const tell = createTelling(context);
  const alone = createChanges<number>();

  async function setPassword(user: User, password: string): Promise<void> {
    const hash = await context.hashPassword(password, user.accountKey, context.leastPassword);
    if (!(await store.users.setPassword(user.key, hash, clock.now(), user))) throw new ApiError("userNotFound");
    bus.publish({ type: "userChanged", accountKey: user.accountKey, key: user.key });
    await tell("passwordChanged", user, user, user);
  }

  /** The user as it is stored now: what a request knows of it may be some seconds old. */
  async function present({ key }: User): Promise<User> {
    const user = await store.users.findByKey(key);
    if (user === undefined) throw new ApiError("invalidToken");
    return user;
  }

  return {
    setFirstPassword: (token, password) =>
      alone(context.serviceAccount, async () => {
        const known = await store.accounts.findSetting(firstTokenSetting);
        const owner = await store.users.findOwner(context.serviceAccount);
        // Hashes are compared: how alike they are tells nothing of the token.
        const isRight = known !== undefined && context.hashToken(token) === known;
        if (!isRight || owner === undefined || owner.passwordSignsIn) throw new ApiError("linkNotValid");
        await setPassword(owner, password);
        return owner;
      }),
    async changePassword(caller, { presentSecret, password }, signIn) {
      await checkPresent(await present(caller), presentSecret);
      await alone(caller.key, async () => setPassword(await present(caller), password));
      await signIns.end(caller.key, { but: signIn });
    },
    async beginFactor(user, presentSecret) {
      await checkPresent(user, presentSecret);
      return secondFactors.begin(user);
    },
    async confirmFactor(user, code) {
      const codes = await secondFactors.confirm(user, code);
      await tell("factorSet", user, user, user);
      return codes;
    },
    async endFactor(caller, user, presentSecret) {
      if (user.owner && user.key !== caller.key)
        throw new ApiError("ownerProtected", ["nobody else ends the second factor of the account's owner"]);
      await checkPresent(caller, presentSecret);
      await secondFactors.end(user.key);
      await tell("factorEnded", user, user, caller);
    },
  };
}
