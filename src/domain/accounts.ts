import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { NewUser, Store } from "../ports/store.ts";

/** The account that the first start makes. */
export interface FirstAccount {
  readonly name: string;
  readonly timeZone: string;
  readonly licenses: number;
  readonly ownerEmail: string;
}

/** The owner's way in; the API key is known only now. */
export interface OwnerCredentials {
  readonly userName: string;
  readonly apiKey: string;
}

/** What the first start needs of the service. */
export interface BootstrapContext {
  readonly store: Pick<Store, "accounts" | "users">;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Makes an API key (src/auth/api-key.ts). */
  readonly makeApiKey: (ids: Ids) => { readonly id: string; readonly secret: string; readonly hash: string };
  /**
   * Keeps the credentials for the owner. Done before the key counts: so a start that is killed leaves none that nobody
   * knows.
   */
  readonly keep: (credentials: OwnerCredentials) => Promise<void>;
}

/**
 * Makes the first account, its owner and the owner's API key, where they are not there yet; so a first start that was
 * cut short is finished by the next one.
 * @returns the credentials that were made, or undefined where all of it was there
 * @throws Error where the owner's e-mail address is a user's of another account
 */
export async function bootstrap(context: BootstrapContext, first: FirstAccount): Promise<OwnerCredentials | undefined> {
  const { store, clock, ids, makeApiKey, keep } = context;
  const now = clock.now();
  const account =
    (await store.accounts.list())[0] ??
    (await store.accounts.create(
      { id: ids.uuid(), name: first.name, timeZone: first.timeZone, licenses: first.licenses, language: "en" },
      now,
    ));
  if ((await store.users.list(account.key)).length > 0) return undefined;
  const key = makeApiKey(ids);
  const credentials = { userName: first.ownerEmail, apiKey: key.secret };
  await keep(credentials);
  const made = await store.users.create(
    {
      ...ownerOf({ name: "Owner", email: first.ownerEmail, country: "", timeZone: first.timeZone }),
      owner: true,
      id: ids.uuid(),
      accountKey: account.key,
      apiKeyHash: key.hash,
      apiKeyId: key.id,
    },
    now,
  );
  if (made === "emailInUse")
    throw new Error(`the owner's e-mail address ${first.ownerEmail} is a user's of another account`);
  return credentials;
}

/** The user that owns a new account: it holds `admin`; who it is and its key are for the caller to say. */
export function ownerOf(
  who: Pick<NewUser, "name" | "email" | "country" | "timeZone">,
): Omit<NewUser, "id" | "accountKey" | "owner" | "apiKeyHash" | "apiKeyId"> {
  const { name, email, country, timeZone } = who;
  return {
    name,
    email,
    country,
    timeZone,
    description: null,
    message: null,
    disabled: false,
    disabledMessage: null,
    tags: {},
    privileges: ["admin"],
    group: null,
    deviceId: null,
    adminDevices: null,
    from: null,
    expires: null,
    passwordHash: null,
  };
}
