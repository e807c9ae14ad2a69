import { argon2, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { ApiError } from "../errors/catalogue.ts";
import type { Ids } from "../ports/ids.ts";
import type { AccountStore } from "../ports/store.ts";
import { Turns } from "../shares/turns.ts";
import { createEncryption, type PublicKeys } from "./encryption.ts";

/** Passwords of users: how they come in and how they are kept. */
export interface Passwords {
  /**
   * The form in which a password is kept: argon2id, as a PHC string. A value that is a compact JWE is decrypted first.
   * `accountKey`: the account that sets it; passwords of all accounts take turns.
   * @throws ApiError `invalidInput`: it is a JWE that can't be decrypted, or is not encrypted where it must be ·
   * `tooManyRequests`, `unavailable`: too many of the account, or of all, wait. `least`: the fewest characters that it
   * may have.
   */
  hash(value: string, accountKey: number, least?: number): Promise<string>;
  /**
   * Whether a password, which may come encrypted, is the one of this hash. It takes its turn as `hash` does; before
   * anybody is known, the passwords of one address take turns. With a null `hash` (no such user, or a user without a
   * password) the answer is false after the same work, so that the time tells nothing. `known`: the user has signed in
   * with this browser before. A known browser keeps its place in the queue, however many strangers wait.
   * @throws ApiError `tooManyRequests`, `unavailable`
   */
  matches(value: string, hash: string | null, owner: PasswordOwner, known?: boolean): Promise<boolean>;
  /** The key that passwords can be encrypted for, as a JWK set (RFC 7517). */
  publicKeys(): Promise<PublicKeys>;
}

/** Whose passwords take turns with others: those of an account by its key, or those that come from an address. */
export type PasswordOwner = number | string;

/** What passwords need of the service. */
export interface PasswordsContext {
  readonly accounts: Pick<AccountStore, "setting" | "findSetting">;
  readonly ids: Ids;
  /** Whether a password that is not encrypted is refused. */
  readonly requireEncrypted: boolean;
}

/** RFC 9106 with OWASP's figures for a server that does other work too: 19 MiB, two passes, one lane; some 30 ms. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const saltBytes = 16;
const tagLength = 32;

/**
 * Passwords that wait while one is hashed, of all accounts and of one: the last of all waits two seconds, or ten on a
 * small machine, well within the 30 s of a request. One account may have a quarter of the places: more wait only where
 * somebody makes users in bulk with many requests at once, and these are to leave places for the others.
 */
export const waitingPasswords = Object.freeze({ waiting: 64, each: 16 });
/** By then the queue is empty again. */
const retryAfterSeconds = 5;

const derive = promisify(argon2);

/** Passwords over the service's settings, where the key pair is kept. */
export function createPasswords({ accounts, ids, requireEncrypted }: PasswordsContext): Passwords {
  const encryption = createEncryption(accounts);
  // One at a time: each takes one of the runtime's four threads, which name look-ups and files need too, and 19 MiB.
  const turns = new Turns<PasswordOwner>(waitingPasswords);

  function inTurn<T>(owner: PasswordOwner, work: () => Promise<T>): Promise<T> {
    const taken = turns.take(owner, work);
    if (taken === "ownFull")
      throw new ApiError("tooManyRequests", ["too many passwords wait already"], retryAfterSeconds);
    if (taken === "full")
      throw new ApiError("unavailable", ["too many passwords wait at the moment"], retryAfterSeconds);
    return taken;
  }

  const tagOf = (message: string, nonce: Buffer) => derive("argon2id", { ...cost, message, nonce, tagLength });

  async function derived(password: string, least: number): Promise<string> {
    if ([...password].length < least)
      throw new ApiError("invalidInput", [`body/password: must have ${least} characters at least`]);
    const nonce = Buffer.from(ids.secret(saltBytes), "base64url");
    return phc(nonce, await tagOf(password, nonce));
  }

  async function textOf(value: string): Promise<string> {
    const decrypted = await encryption.decrypt(value);
    if (decrypted !== undefined && "refused" in decrypted)
      throw new ApiError("invalidInput", [`body/password: ${decrypted.refused}`]);
    if (decrypted === undefined && requireEncrypted)
      throw new ApiError("invalidInput", [
        "body/password: must be a compact JWE for the key at /.well-known/jwks.json",
      ]);
    return decrypted?.text ?? value;
  }

  async function isKept(value: string, hash: string | null): Promise<boolean> {
    const kept = hash === null ? nobodys : readPhc(hash);
    const decrypted = await encryption.decrypt(value);
    if (kept === undefined || (decrypted !== undefined && "refused" in decrypted)) return false;
    const found = await tagOf(decrypted?.text ?? value, kept.salt);
    return found.length === kept.tag.length && timingSafeEqual(found, kept.tag);
  }

  return {
    hash: async (value, accountKey, least = 0) => inTurn(accountKey, async () => derived(await textOf(value), least)),
    matches: async (value, hash, owner, known = false) => {
      const work = () => isKept(value, hash);
      return known ? turns.always(`known ${owner}`, work) : inTurn(owner, work);
    },
    publicKeys: () => encryption.publicKeys(),
  };
}

/** The cost that every password so far was hashed with. */
const form = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$([A-Za-z\d+/]+)\$([A-Za-z\d+/]+)$/;

/** What no password has: its tag is empty. */
const nobodys = { salt: Buffer.alloc(saltBytes), tag: Buffer.alloc(0) };

function readPhc(hash: string): { readonly salt: Buffer; readonly tag: Buffer } | undefined {
  const [, salt, tag] = form.exec(hash) ?? [];
  if (salt === undefined || tag === undefined) return undefined;
  return { salt: Buffer.from(salt, "base64"), tag: Buffer.from(tag, "base64") };
}

/** The PHC string form: `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`, base64 without padding. */
function phc(salt: Buffer, hash: Buffer): string {
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(hash)}`;
}

function base64(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
