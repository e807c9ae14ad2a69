import type { PatchRequest } from "../contract/patch.ts";
import { type ApiKeyRequest, settableUserFields, type UserBody } from "../contract/user.ts";
import { ApiError } from "../errors/catalogue.ts";
import { holds, type User } from "../model/account.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { Letters } from "../ports/letters.ts";
import type { Log } from "../ports/log.ts";
import type { PageAsk } from "../ports/pages.ts";
import type { Store } from "../ports/store.ts";
import { patched } from "./json-patch.ts";
import { type Listed, listedOf } from "./listed.ts";
import { createChanges } from "./locks.ts";
import { createReferences } from "./references.ts";
import type { SignIns } from "./sign-ins.ts";
import { changesOfWayIn, readUser, userView } from "./user-fields.ts";
import { createTelling } from "./user-telling.ts";

/** A user after a change, and what of the change is probably a mistake. */
export interface ChangedUser {
  readonly user: User;
  readonly warnings: readonly string[];
}

/**
 * The users of accounts, as they may see each other: with `admin` all of the account, else only oneself. Calls that
 * name a user fail with `userNotFound` where it is unknown, of another account, or not visible to the caller. A change
 * takes effect at once, on tokens too. Whether the caller may change anything is for the gate.
 */
export interface Users {
  /** In the order of their making. */
  page(caller: User, ask: PageAsk): Promise<Listed<User>>;
  find(caller: User, id: string): Promise<User>;
  create(caller: User, body: UserBody): Promise<ChangedUser>;
  /** A new password ends the user's sessions, but for `signIn`: the key of the one that the caller came by. */
  replace(caller: User, id: string, body: UserBody, signIn?: number): Promise<ChangedUser>;
  /** As `replace`. `check` is the check of a PUT's body; it throws an ApiError. */
  patch(
    caller: User,
    id: string,
    operations: PatchRequest,
    check: (body: unknown) => UserBody,
    signIn?: number,
  ): Promise<ChangedUser>;
  remove(caller: User, id: string): Promise<void>;
  /**
   * Makes an API key, which ends the one before and its tokens. It can't be read again.
   * @throws ApiError `ownerProtected`, or what `checkPresent` throws
   */
  makeApiKey(caller: User, id: string, body: ApiKeyRequest): Promise<string>;
  removeApiKey(caller: User, id: string): Promise<void>;
}

/** What users need of the service. */
export interface UsersContext {
  readonly store: Pick<Store, "users" | "groups" | "devices" | "accounts">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly letters: Letters;
  /** Makes an API key (src/auth/api-key.ts). */
  readonly makeApiKey: (ids: Ids) => { readonly id: string; readonly secret: string; readonly hash: string };
  /** The form in which a password is kept (src/auth/passwords.ts). */
  readonly hashPassword: (password: string, accountKey: number) => Promise<string>;
  /** Asks a user for its present API key or password (src/auth/present.ts). */
  readonly checkPresent: (user: User, secret: string | null | undefined) => Promise<void>;
  readonly signIns: Pick<SignIns, "end">;
  /** Called with the key of a user that is no more. */
  readonly forget: (userKey: number) => void;
}

const writable: ReadonlySet<string> = new Set(settableUserFields);

/** The users over their store. */
export function createUsers(context: UsersContext): Users {
  const { store, bus, ids, makeApiKey } = context;
  const users = store.users;
  // A change is made from what was read before it, so the changes of one user follow each other.
  const alone = createChanges<string>();
  const replaced = createReplacement(context);
  const change = createChange(context);
  const setApiKey = createSetApiKey(context);

  async function visible(caller: User, id: string): Promise<User> {
    const user = await users.find(id);
    if (user === undefined || !seesUser(caller, user)) throw new ApiError("userNotFound");
    return user;
  }

  return {
    async page(caller, ask) {
      if (holds(caller, "admin")) return listedOf(await users.page(caller.accountKey, ask));
      const own = ask.after === undefined ? await users.findByKey(caller.key) : undefined;
      return { items: own === undefined ? [] : [own] };
    },
    find: visible,
    create: async (caller, body) =>
      change.create(caller.accountKey, body, await isShown(context, caller, body, typeof body.password === "string")),
    replace: (caller, id, body, signIn) =>
      alone(id, async () => replaced(caller, await visible(caller, id), body, signIn)),
    patch: (caller, id, operations, check, signIn) =>
      alone(id, async () => {
        const user = await visible(caller, id);
        return replaced(caller, user, check(patched({ ...userView(user) }, operations, writable)), signIn);
      }),
    remove: (caller, id) =>
      alone(id, async () => {
        const user = await visible(caller, id);
        if (user.owner) throw new ApiError("ownerProtected", ["the account's owner can't be deleted"]);
        if (!(await users.remove(user.key))) throw new ApiError("userNotFound");
        bus.publish({ type: "userChanged", accountKey: user.accountKey, key: user.key });
        context.forget(user.key);
      }),
    makeApiKey: (caller, id, { presentSecret }) =>
      alone(id, async () => {
        const user = await visible(caller, id);
        if (user.owner && user.key !== caller.key)
          throw new ApiError("ownerProtected", [
            "the owner's API key is made by the owner, or by the service's operator",
          ]);
        await context.checkPresent(caller, presentSecret);
        const { id: keyId, secret, hash } = makeApiKey(ids);
        await setApiKey(caller, user, { id: keyId, hash });
        return secret;
      }),
    removeApiKey: (caller, id) =>
      alone(id, async () => {
        const user = await visible(caller, id);
        if (user.owner) throw new ApiError("ownerProtected", ["the account's owner keeps an API key: make a new one"]);
        await setApiKey(caller, user, null);
      }),
  };
}

/** Sets a user's key, and tells its holder where another one ended. */
function createSetApiKey(context: UsersContext) {
  const { store, bus, clock } = context;
  const tell = createTelling(context);
  return async (
    caller: User,
    user: User,
    key: { readonly id: string; readonly hash: string } | null,
  ): Promise<void> => {
    await store.users.setApiKey(user.key, key, clock.now(), user);
    bus.publish({ type: "userChanged", accountKey: user.accountKey, key: user.key });
    // A first key ends nothing.
    if (user.apiKeyId !== null) await tell(key === null ? "keyEnded" : "keyReplaced", user, user, caller);
  };
}

/**
 * Replaces a user. What a token alone may not change asks for more than the token; what of the way in changed is told.
 */
function createReplacement(context: UsersContext) {
  const change = createChange(context);
  const tell = createTelling(context);
  return async (caller: User, user: User, body: UserBody, signIn: number | undefined): Promise<ChangedUser> => {
    const changes = changesOfWayIn(body, user);
    if (user.owner && user.key !== caller.key && (changes.email || changes.password || changes.privileges))
      throw new ApiError("ownerProtected", [
        "body: nobody else changes the e-mail address, password or privileges of the account's owner",
      ]);
    const own = user.key === caller.key && (changes.email || changes.password);
    if (own) await context.checkPresent(user, body.presentSecret);
    const result = await change.replace(user, body, own || (await isShown(context, caller, body, changes.password)));
    if (changes.password)
      await context.signIns.end(user.key, signIn === undefined || user.key !== caller.key ? "all" : { but: signIn });
    if (changes.email) await tell("emailChanged", user, result.user, caller);
    if (changes.password) await tell("passwordChanged", result.user, result.user, caller);
    return result;
  };
}

/**
 * Whether who sets a user's password shows more than a token, so that the password may be a way in. Otherwise a stolen
 * token would make one that outlasts it.
 * @throws ApiError `permissionDenied`: it shows a wrong secret
 */
async function isShown(
  { checkPresent }: Pick<UsersContext, "checkPresent">,
  caller: User,
  { presentSecret }: UserBody,
  setsPassword: boolean,
): Promise<boolean> {
  if (!setsPassword || presentSecret === undefined || presentSecret === null || presentSecret === "") return false;
  await checkPresent(caller, presentSecret);
  return true;
}

/** What is told of a password that is no way in. */
const noWayIn = "body/password: does not sign in, since it was set without presentSecret";

function seesUser(caller: User, user: User): boolean {
  return user.accountKey === caller.accountKey && (user.key === caller.key || holds(caller, "admin"));
}

/** What a body makes of no user, or of one. */
function createChange({ store, bus, clock, ids, hashPassword }: UsersContext) {
  const references = createReferences(store);

  async function warningsOf(accountKey: number, { group, deviceId }: User): Promise<readonly string[]> {
    return [
      ...(await references.group(accountKey, group)),
      ...(await references.devices(accountKey, "deviceId", deviceId === null ? [] : [deviceId])),
    ];
  }

  async function changed(result: User | "emailInUse" | "missing", warnings: readonly string[]): Promise<ChangedUser> {
    if (result === "emailInUse") throw new ApiError("emailInUse", ["body/email: is a user's already"]);
    if (result === "missing") throw new ApiError("userNotFound");
    bus.publish({ type: "userChanged", accountKey: result.accountKey, key: result.key });
    return { user: result, warnings: [...warnings, ...(await warningsOf(result.accountKey, result))] };
  }

  function told(warnings: readonly string[], password: string | undefined, signsIn: boolean): readonly string[] {
    return password === undefined || signsIn ? warnings : [...warnings, noWayIn];
  }

  return {
    async create(accountKey: number, body: UserBody, passwordSignsIn: boolean): Promise<ChangedUser> {
      const { fields, password, warnings } = readUser(body);
      const passwordHash = password === undefined ? null : await hashPassword(password, accountKey);
      const made = { id: ids.uuid(), accountKey, owner: false, apiKeyHash: null, apiKeyId: null };
      const user = await store.users.create({ ...fields, ...made, passwordHash, passwordSignsIn }, clock.now());
      return changed(user, told(warnings, password, passwordSignsIn));
    },
    async replace(user: User, body: UserBody, passwordSignsIn: boolean): Promise<ChangedUser> {
      const { fields, password, warnings } = readUser(body, user);
      const passwordHash = password === undefined ? undefined : await hashPassword(password, user.accountKey);
      const set = { ...fields, passwordHash, passwordSignsIn };
      const result = await store.users.replace(user.key, set, clock.now(), user);
      return changed(result, told(warnings, password, passwordSignsIn));
    },
  };
}
