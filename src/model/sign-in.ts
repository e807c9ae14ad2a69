/** A person who signed in with a browser, for as long as that lasts. */
export interface SignIn {
  readonly key: number;
  readonly userKey: number;
  /** SHA-256 of the token in the browser's cookie, hex. */
  readonly tokenHash: string;
  readonly creation: number;
  /** When it was last used, to some minutes. */
  readonly seen: number;
  /** When it ends even if it is used. */
  readonly expires: number;
  /** Where it was made from; of a proxy that is not trusted, the proxy's. */
  readonly address: string;
  /** What the browser calls itself, cut. */
  readonly browser: string;
}

/** One that is made. */
export type NewSignIn = Omit<SignIn, "key">;

/** A user's second factor: an app that makes codes by the clock (TOTP, RFC 6238). */
export interface SecondFactor {
  /** The key of the codes, base32. */
  readonly secret: string;
  /** Whether the user has shown a code of it. It is asked for only then. */
  readonly confirmed: boolean;
  /** The step of time of the newest code that was used: none is good twice. */
  readonly lastStep: number;
  /** SHA-256 of each recovery code that was not used yet, hex. */
  readonly recovery: readonly string[];
}
