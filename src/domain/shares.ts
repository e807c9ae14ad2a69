import type { ShareRequest, ShareView } from "../contract/share.ts";
import { formatInstant, parseInstant } from "../contract/time.ts";
import { ApiError } from "../errors/catalogue.ts";
import { holds, type User } from "../model/account.ts";
import type { NewShare, Share, ShareTarget } from "../model/share.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { PageAsk } from "../ports/pages.ts";
import type { SharesOf } from "../ports/shares.ts";
import type { Store } from "../ports/store.ts";
import { unknownTerms } from "./bodies.ts";
import { createCache, dropWhereMissed } from "./cache.ts";
import type { Devices } from "./devices.ts";
import type { Groups } from "./groups.ts";
import { type Listed, listedOf } from "./listed.ts";

/** How many links users may have, for how long, and how often each may be asked. */
export interface ShareLimits {
  readonly perUser: number;
  readonly longestDays: number;
  readonly requestsPerMinute: number;
}

/** Links to devices and groups, as those see them who make them. */
export interface Shares {
  /** Shares what the user sees. @throws ApiError `deviceNotFound`, `groupNotFound`, `badRequest`, `shareLimit` */
  create(user: User, request: ShareRequest): Promise<MadeShare>;
  /** The user's own, the newest first; with `admin` the account's. */
  page(user: User, ask: PageAsk): Promise<Listed<ShareView>>;
  /** Ends one at once. @throws ApiError `shareNotFound` */
  end(user: User, id: string): Promise<void>;
  /** The one with a token of this hash. Undefined: there is none, or it has ended. At once where it is in memory. */
  find(tokenHash: string): Share | undefined | Promise<Share | undefined>;
}

/** A link with its token, which is shown once. */
export interface MadeShare {
  readonly share: ShareView;
  readonly token: string;
  readonly warnings: readonly string[];
}

/** What they need of the service. */
export interface SharesContext {
  readonly store: Pick<Store, "shares" | "devices" | "users">;
  readonly devices: Pick<Devices, "find">;
  readonly groups: Pick<Groups, "find">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: ShareLimits;
  /** src/auth/share-token.ts */
  readonly makeToken: (ids: Ids) => { readonly token: string; readonly hash: string };
}

const dayMs = 86_400_000;
/** Kept in memory: some 500 B each. */
const kept = { capacity: 10_000, mostBytes: 8_388_608 };
/** Age at which one is read again, should the event of its end be lost. */
const maxAgeMs = 10_000;

/** Links over their store. */
export function createShares(context: SharesContext): Shares {
  const { store, bus, clock, ids, limits, makeToken } = context;
  const cache = createCache<string, Share>({
    clock,
    load: (hash) => store.shares.find(hash),
    maxAgeMs,
    ...kept,
  });
  const present = (share: Share | undefined) =>
    share !== undefined && clock.now() < share.expires ? share : undefined;

  dropWhereMissed(bus, cache);
  // Links go with their device or group.
  bus.subscribe((event) => {
    if (event.type === "deviceChanged" || event.type === "groupChanged") cache.dropAll(() => true);
    if (event.type === "shareEnded") cache.drop(event.hash);
  });

  return {
    async create(user, request) {
      if (request.name?.trim() === "") throw new ApiError("badRequest", ["body/name: must not be blank"]);
      const { target, usualName } = await targetOf(context, user, request);
      const now = clock.now();
      const expires = endOf(request.expires, now, limits.longestDays);
      const { token, hash: tokenHash } = makeToken(ids);
      const { key: userKey, accountKey } = user;
      const name = request.name ?? usualName;
      const made: NewShare = { id: ids.uuid(), accountKey, userKey, target, name, tokenHash, creation: now, expires };
      const share = await store.shares.create(made, limits.perUser);
      if (share === "full") throw new ApiError("shareLimit", [`a user may have ${limits.perUser} links at a time`]);
      if (share === "missing") throw new ApiError("deviceNotFound");
      const [view] = await viewsOf(context, [share]);
      if (view === undefined) throw new ApiError("deviceNotFound");
      return { share: view, token, warnings: unknownTerms(request, { deviceId: 0, groupId: 0, expires: 0, name: 0 }) };
    },
    async page(user, ask) {
      const { items, ...next } = listedOf(await store.shares.page(whose(user), clock.now(), ask));
      return { items: await viewsOf(context, items), ...next };
    },
    async end(user, id) {
      const share = await store.shares.remove(whose(user), id);
      if (share === undefined) throw new ApiError("shareNotFound");
      bus.publish({ type: "shareEnded", hash: share.tokenHash });
    },
    find(tokenHash) {
      const found = cache.get(tokenHash);
      return found instanceof Promise ? found.then(present) : present(found);
    },
  };
}

function whose(user: User): SharesOf {
  return { accountKey: user.accountKey, ...(!holds(user, "admin") && { userKey: user.key }) };
}

async function targetOf(
  { devices, groups }: SharesContext,
  user: User,
  { deviceId, groupId }: ShareRequest,
): Promise<{ readonly target: ShareTarget; readonly usualName: string }> {
  if ((deviceId === undefined) === (groupId === undefined))
    throw new ApiError("badRequest", ["body: needs either deviceId or groupId"]);
  if (deviceId !== undefined) {
    const { key, name } = await devices.find(user, deviceId);
    return { target: { device: key }, usualName: name };
  }
  const { id, name } = await groups.find(user, groupId ?? "");
  return { target: { group: id }, usualName: name };
}

function endOf(text: string, now: number, longestDays: number): number {
  const expires = parseInstant(text);
  if (expires === undefined || expires <= now || expires > now + longestDays * dayMs)
    throw new ApiError("badRequest", [`body/expires: must be in the future, at most ${longestDays} days ahead`]);
  return expires;
}

/** Of those whose device and user are still there. */
async function viewsOf({ store }: SharesContext, shares: readonly Share[]): Promise<ShareView[]> {
  const keys = shares.flatMap(({ target }) => ("device" in target ? [target.device] : []));
  const named = new Map((await store.devices.named([...new Set(keys)])).map((device) => [device.key, device.id]));
  const emails = new Map<number, string | undefined>();
  for (const { userKey } of shares)
    if (!emails.has(userKey)) emails.set(userKey, (await store.users.findByKey(userKey))?.email);
  return shares.flatMap(({ id, name, target, userKey, creation, expires }) => {
    const deviceId = "device" in target ? named.get(target.device) : null;
    const user = emails.get(userKey);
    if (deviceId === undefined || user === undefined) return [];
    const groupId = "group" in target ? target.group : null;
    const times = { creation: formatInstant(creation), expires: formatInstant(expires) };
    return { id, name, deviceId, groupId, user, ...times };
  });
}
