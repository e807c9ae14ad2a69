import { AccountReplacement, type AccountView, NewAccount } from "../contract/admin.ts";
import type { PatchRequest } from "../contract/patch.ts";
import { formatInstant } from "../contract/time.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { Account } from "../model/account.ts";
import type { AccountCaps, CapsOf } from "../model/caps.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { Letters } from "../ports/letters.ts";
import type { Log } from "../ports/log.ts";
import type { PageAsk } from "../ports/pages.ts";
import type { ReadAccount, Store } from "../ports/store.ts";
import { capsView } from "./account-caps.ts";
import { ownerOf } from "./accounts.ts";
import { unknownFields } from "./bodies.ts";
import { isCountry } from "./countries.ts";
import { isEmail } from "./email.ts";
import { patched } from "./json-patch.ts";
import { licensesOf } from "./licenses.ts";
import { type Listed, listedOf } from "./listed.ts";
import { createChanges } from "./locks.ts";
import { givenQuotas, quotasView, setQuotas } from "./quotas.ts";
import { isTimeZone } from "./time-zones.ts";
import { createTelling } from "./user-telling.ts";

/** An account after a change, and what of the change is probably a mistake. */
export interface ChangedAccount {
  readonly account: AccountView;
  readonly warnings: readonly string[];
}

/** A new account and the way in of its owner; the API key is known only now. */
export interface MadeAccount extends ChangedAccount {
  readonly owner: { readonly id: string; readonly email: string; readonly apiKey: string };
}

/**
 * The service's accounts, as its operator makes and changes them. Calls that name one fail with `accountNotFound` where
 * there is none.
 */
export interface Tenants {
  /** In the order of their making. */
  page(ask: PageAsk): Promise<Listed<AccountView>>;
  read(id: string): Promise<AccountView>;
  /** @throws ApiError `emailInUse`, `invalidEmail`, `invalidInput` */
  create(body: NewAccount): Promise<MadeAccount>;
  replace(id: string, body: AccountReplacement): Promise<ChangedAccount>;
  /**
   * Makes the owner's API key, which ends the one before and its tokens: the way back for an owner who lost it. It
   * can't be read again.
   */
  makeOwnerKey(id: string): Promise<MadeAccount["owner"]>;
  /** `check` is the check of a PUT's body; it throws an ApiError. */
  patch(id: string, operations: PatchRequest, check: (body: unknown) => AccountReplacement): Promise<ChangedAccount>;
}

/** What they need of the service. */
export interface TenantsContext {
  readonly store: Pick<Store, "accounts" | "users" | "daily">;
  readonly capsOf: CapsOf;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly letters: Letters;
  /** Makes an API key (src/auth/api-key.ts). */
  readonly makeApiKey: (ids: Ids) => { readonly id: string; readonly secret: string; readonly hash: string };
}

const settable = Object.keys(AccountReplacement.properties);
const settableOfNew = Object.keys(NewAccount.properties);
const settableOfOwner = Object.keys(NewAccount.properties.owner.properties);
const writable: ReadonlySet<string> = new Set(settable);
/** Fields that a body may hold as they were answered; they can't be set. */
const shownFields: readonly string[] = ["id", "creation"];

/** The accounts over their store. Nothing of them is kept in memory: an idle account costs nothing. */
export function createTenants(context: TenantsContext): Tenants {
  const { bus, clock, ids, makeApiKey } = context;
  const { accounts, users } = context.store;
  const tell = createTelling(context);
  // A patch is made from what was read before it, so the changes of one account follow each other.
  const alone = createChanges<string>();

  async function find(id: string): Promise<Account> {
    const account = await accounts.findById(id);
    if (account === undefined) throw new ApiError("accountNotFound");
    return account;
  }

  const view = (account: Account) => viewOf(context, account, clock.now());

  async function write({ key }: Account, body: AccountReplacement, read?: ReadAccount): Promise<ChangedAccount> {
    const { name, timeZone, licenses, language = "en" } = body;
    checkTimeZone(timeZone, "body/timeZone");
    const fields = { name, timeZone, licenses, language, ...operatorsIn(body), quotas: setQuotas(body.quotas ?? {}) };
    const account = await accounts.replace(key, fields, read);
    if (account === undefined) throw new ApiError("accountNotFound");
    // Its rules depend on its time zone and language, and what is shown of its devices depends on its days.
    bus.publish({ type: "rulesChanged", accountKey: key });
    return { account: await view(account), warnings: unknownFields(body, settable, shownFields) };
  }

  return {
    async page(ask) {
      const found = listedOf(await accounts.page(ask));
      return { ...found, items: await Promise.all(found.items.map(view)) };
    },
    read: async (id) => view(await find(id)),
    async create(body) {
      const { owner, name, timeZone, licenses, language = "en" } = body;
      checkTimeZone(timeZone, "body/timeZone");
      checkOwner(owner);
      const key = makeApiKey(ids);
      const made = await accounts.createWithOwner(
        { id: ids.uuid(), name, timeZone, licenses, language, ...operatorsIn(body) },
        { ...ownerOf(owner), id: ids.uuid(), apiKeyHash: key.hash, apiKeyId: key.id },
        clock.now(),
      );
      if (made === "emailInUse") throw new ApiError("emailInUse");
      return {
        account: await view(made.account),
        owner: { id: made.owner.id, email: made.owner.email, apiKey: key.secret },
        warnings: [
          ...unknownFields(body, settableOfNew, shownFields),
          ...unknownFields(owner, settableOfOwner, [], "body/owner"),
        ],
      };
    },
    makeOwnerKey: (id) =>
      alone(id, async () => {
        const owner = await users.findOwner((await find(id)).key);
        if (owner === undefined) throw new ApiError("accountNotFound", ["the account has no owner yet"]);
        const key = makeApiKey(ids);
        await users.setApiKey(owner.key, { id: key.id, hash: key.hash }, clock.now());
        bus.publish({ type: "userChanged", accountKey: owner.accountKey, key: owner.key });
        if (owner.apiKeyId !== null) await tell("keyReplaced", owner, owner, null);
        return { id: owner.id, email: owner.email, apiKey: key.secret };
      }),
    replace: (id, body) => alone(id, async () => write(await find(id), body)),
    patch: (id, operations, check) =>
      alone(id, async () => {
        const account = await find(id);
        const { own: quotas } = await accounts.quotas(account.key);
        const body = check(patched(presentOf({ account, quotas }), operations, writable));
        return write(account, { positionDays: null, ...body }, { account, quotas });
      }),
  };
}

/** An account as a body would say it. */
function presentOf({ account, quotas }: ReadAccount) {
  const { name, timeZone, licenses, language, caps, positionDays } = account;
  return { name, timeZone, licenses, language, ...caps, positionDays, quotas: givenQuotas(quotas) };
}

/** An account as the operator sees it. */
async function viewOf(context: TenantsContext, account: Account, now: number): Promise<AccountView> {
  const { accounts } = context.store;
  const [used, quotas] = await Promise.all([accounts.licensesUsed(account.key, now), accounts.quotas(account.key)]);
  const { id, name, timeZone, language, licenses, creation, positionDays } = account;
  return {
    ...{ id, name, timeZone, language, positionDays },
    licenses: licensesOf(licenses, used),
    ...(await capsView(context, account)),
    quotas: quotasView(quotas),
    creation: formatInstant(creation),
  };
}

/**
 * What the operator sets. Days that are left out stay as they are, so that nobody starts or stops the deletion of
 * positions by accident.
 */
function operatorsIn(body: AccountReplacement): { readonly caps: AccountCaps; readonly positionDays?: number | null } {
  const { positionDays } = body;
  return { caps: capsIn(body), ...(positionDays !== undefined && { positionDays }) };
}

function capsIn(body: AccountReplacement): AccountCaps {
  return {
    dailyEmails: body.dailyEmails ?? null,
    dailySms: body.dailySms ?? null,
    deviceDailyEmails: body.deviceDailyEmails ?? null,
    deviceDailySms: body.deviceDailySms ?? null,
    unconfirmedRecipients: body.unconfirmedRecipients ?? null,
  };
}

function checkTimeZone(text: string, where: string): void {
  if (!isTimeZone(text))
    throw new ApiError("invalidInput", [`${where}: must be an IANA time zone of the form Region/City`]);
}

function checkOwner({ email, country, timeZone }: NewAccount["owner"]): void {
  if (!isEmail(email)) throw new ApiError("invalidEmail", ["body/owner/email: must be an e-mail address"]);
  if (!isCountry(country))
    throw new ApiError("invalidInput", ["body/owner/country: must be a country's ISO code or English name"]);
  checkTimeZone(timeZone, "body/owner/timeZone");
}
