import type { Generated, Selectable } from "kysely";

/** Who is signed in with a browser: see `SignIn`. */
export interface SignInTable {
  key: Generated<number>;
  user: number;
  token_hash: string;
  creation: number;
  seen: number;
  expires: number;
  address: string;
  browser: string;
}

/** Second factors of users: see `SecondFactor`. */
export interface SecondFactorTable {
  user: number;
  /** Sealed. */
  secret: string;
  confirmed: number;
  last_step: number;
  /** A list. */
  recovery: string;
}

/** A sign-in as read. */
export type SignInRow = Selectable<SignInTable>;
