import type { NewSignIn, SecondFactor, SignIn } from "../model/sign-in.ts";

/** Which sign-ins of a user are meant: one of them, all but one, or all. */
export type ChosenSignIns = { readonly only: number } | { readonly but: number } | "all";

/** Who is signed in with a browser. All of a user's are deleted with the user. */
export interface SignInStore {
  /**
   * Undefined: the user is gone. A user has at most `most` of them: those that were not used for longest make room.
   * `ended`: the hashes of their tokens.
   */
  create(
    signIn: NewSignIn,
    most: number,
  ): Promise<{ readonly made: SignIn; readonly ended: readonly string[] } | undefined>;
  find(tokenHash: string): Promise<SignIn | undefined>;
  /** Of a user, the newest first; those that have ended too. */
  list(userKey: number): Promise<readonly SignIn[]>;
  /** Notes that it was used. */
  touch(key: number, now: number): Promise<void>;
  /** Returns the hashes of the tokens of those that it deleted. */
  remove(userKey: number, chosen: ChosenSignIns): Promise<readonly string[]>;
  /** Deletes at most `limit` that expired before `before`. Returns how many it deleted. */
  prune(before: number, limit: number): Promise<number>;
}

/** Second factors of users: one at most for each. It is deleted with its user. */
export interface SecondFactorStore {
  find(userKey: number): Promise<SecondFactor | undefined>;
  /** Stores one that is to be confirmed, in place of another such. False: the user has a confirmed one, or is gone. */
  begin(userKey: number, secret: string): Promise<boolean>;
  /** Confirms the one with this secret by the code of a step. False: there is none to be confirmed. */
  confirm(userKey: number, secret: string, step: number, recovery: readonly string[]): Promise<boolean>;
  /** Uses the code of a step. False: it, or a later one, was used. */
  useStep(userKey: number, step: number): Promise<boolean>;
  /** Uses a recovery code. False: there is none with this hash. */
  useRecovery(userKey: number, hash: string): Promise<boolean>;
  /** False: there was none. */
  remove(userKey: number): Promise<boolean>;
}
