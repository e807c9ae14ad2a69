import type { AccountAlert, AccountAlertsQuery, AlertsActRequest } from "../contract/account-alert.ts";
import { parseInstant } from "../contract/time.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { AlertAct } from "../model/alert.ts";
import type { DeviceKey } from "../model/device.ts";
import type { AccountAlertsAsk, AlertKey, AlertsWanted } from "../ports/alert-store.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { PageAsk } from "../ports/pages.ts";
import type { NamedDevice, Store } from "../ports/store.ts";
import { alertView } from "./alerts.ts";
import { shownText } from "./bodies.ts";
import type { Devices } from "./devices.ts";
import type { Groups } from "./groups.ts";
import type { Listed } from "./listed.ts";
import type { Visibility } from "./visibility.ts";

/** What is asked of an account's alerts beside the page. */
export type AlertsQuery = Omit<AccountAlertsQuery, "limit" | "cursor">;

/** The alerts of all devices that a user sees, and what people do with them. */
export interface AccountAlerts {
  /**
   * A page of them. It may be short if the user sees few of many. Except with `follow`, it is never empty while there
   * are more.
   * @throws ApiError `deviceNotFound`, `groupNotFound`, `alertRuleNotFound`, `badRequest`
   */
  page(user: User, query: AlertsQuery, ask: PageAsk<string>): Promise<Listed<AccountAlert, string>>;
  /**
   * @throws ApiError `alertNotFound` if one of them is unknown or of a device that the user does not see; then no alert
   * changes
   */
  acknowledge(user: User, request: AlertsActRequest): Promise<readonly AccountAlert[]>;
  /** @throws ApiError as `acknowledge` */
  close(user: User, request: AlertsActRequest): Promise<readonly AccountAlert[]>;
}

/** What they need of the service. */
export interface AccountAlertsContext {
  readonly store: Pick<Store, "alerts" | "alertRules" | "devices">;
  readonly devices: Pick<Devices, "find">;
  readonly groups: Pick<Groups, "find">;
  readonly visibility: Visibility;
  readonly bus: Bus;
  readonly clock: Clock;
}

/** For up to this many devices, each is looked up in its own index. For more, the account's alerts are read. */
const fewDevices = 16;
/** Alerts that one step reads if a user sees only some devices. */
const stepAlerts = 2000;

/** Whose alerts are asked for: all of the account, those of a few devices, or of the devices with these ids. */
type Whose = { readonly keys?: readonly DeviceKey[]; readonly ids?: ReadonlySet<string> };

/** A question to the store, but for its place. */
type Ask = Pick<AccountAlertsAsk, "order" | "wanted"> & { readonly whose: Whose; readonly limit: number };

/** The alerts over their store. */
export function createAccountAlerts(context: AccountAlertsContext): AccountAlerts {
  const { store } = context;
  const whose = createWhose(context);
  const act = createActing(context);

  /** One step: of the alerts behind a place, those that the user may see, with their devices. */
  async function step(accountKey: number, { whose: { keys, ids }, ...ask }: Ask, after: AlertKey | undefined) {
    const limit = ids === undefined ? ask.limit : Math.max(stepAlerts, ask.limit);
    const asked = { ...ask, limit, after, ...(keys !== undefined && { devices: keys }) };
    const found = await store.alerts.places(accountKey, asked);
    const named = await namesOf(store, found.places);
    const seen = found.places.filter(({ device }) => {
      const id = named.get(device)?.id;
      return id !== undefined && (ids === undefined || ids.has(id));
    });
    const places = seen.slice(0, ask.limit);
    return { places, named, next: seen.length > places.length ? places.at(-1) : found.next };
  }

  async function find(
    accountKey: number,
    ask: Ask,
    { after, bytes }: PageAsk<string>,
  ): Promise<Listed<AccountAlert, string>> {
    for (let place = after === undefined ? undefined : placeOf(after); ; ) {
      const { places, named, next } = await step(accountKey, ask, place);
      const { rows, more } = await store.alerts.read(
        places.map(({ key }) => key),
        bytes,
      );
      const items = viewsOf(rows, named);
      const end = more ? rows.at(-1) : next;
      // Following continues behind everything that was looked at, even if nothing was found.
      const last = end ?? (ask.order === "found" ? (places.at(-1) ?? place) : undefined);
      if (items.length > 0 || end === undefined) return { items, ...(last !== undefined && { next: textOf(last) }) };
      place = end;
    }
  }

  return {
    async page(user, query, page) {
      const { accountKey } = user;
      const order = query.follow === undefined ? "newest" : "found";
      const wanted = await wantedOf(store, user, query);
      const ask = { order, wanted, limit: page.limit, whose: await whose(user, query, order) } as const;
      if (order === "newest" || page.after !== undefined) return find(accountKey, ask, page);
      return { items: [], next: textOf({ time: 0, key: await store.alerts.newest(accountKey) }) };
    },
    acknowledge: (user, request) => act(user, request, (keys, done) => store.alerts.acknowledge(keys, done)),
    close: (user, request) => act(user, request, (keys, done) => store.alerts.close(keys, done)),
  };
}

async function namesOf(
  { devices }: AccountAlertsContext["store"],
  alerts: readonly { readonly device: DeviceKey }[],
): Promise<ReadonlyMap<DeviceKey, NamedDevice>> {
  const keys = [...new Set(alerts.map(({ device }) => device))];
  const named = keys.length === 0 ? [] : await devices.named(keys);
  return new Map(named.map((device) => [device.key, device]));
}

async function wantedOf(
  { alertRules }: AccountAlertsContext["store"],
  user: User,
  query: AlertsQuery,
): Promise<AlertsWanted> {
  const { rule, type, state, critical } = query;
  const found = rule === undefined ? undefined : await alertRules.find(rule);
  if (rule !== undefined && found?.accountKey !== user.accountKey) throw new ApiError("alertRuleNotFound");
  return {
    ...rangeOf(query),
    ...(found !== undefined && { ruleKey: found.key }),
    ...(type !== undefined && { type }),
    ...(state !== undefined && { state }),
    ...(critical !== undefined && { critical: critical === "true" }),
  };
}

/** What somebody does with alerts: with all that are named, or with none of them. */
function createActing({ store, visibility, bus, clock }: AccountAlertsContext) {
  return async (
    user: User,
    { ids, note = null }: AlertsActRequest,
    change: (keys: readonly number[], done: AlertAct) => Promise<void>,
  ): Promise<readonly AccountAlert[]> => {
    const { accountKey } = user;
    const alerts = await store.alerts.ofAccount(accountKey, ids);
    const named = await namesOf(store, alerts);
    const scope = await visibility.scope(user);
    const isSeen = (id: string | undefined) => id !== undefined && (scope.all || scope.ids.has(id));
    const known = new Set(alerts.filter(({ device }) => isSeen(named.get(device)?.id)).map(({ id }) => id));
    const unknown = ids.filter((id) => !known.has(id));
    if (unknown.length > 0) throw new ApiError("alertNotFound", unknown.map(shownText));
    await change(
      alerts.map(({ key }) => key),
      { at: clock.now(), user: user.email, note },
    );
    bus.publish({ type: "alertsHandled", accountKey, ids });
    return viewsOf(await store.alerts.ofAccount(accountKey, ids), named);
  };
}

/** Whose alerts a user asks for, of those that it sees. */
function createWhose({ devices, groups, visibility }: AccountAlertsContext) {
  /** The ids; undefined: all of the account. */
  async function idsOf(user: User, { device, group }: AlertsQuery): Promise<ReadonlySet<string> | undefined> {
    const scope = await visibility.scope(user);
    const seen = scope.all ? undefined : scope.ids;
    if (device === undefined && group === undefined) return seen;
    const named = device === undefined ? undefined : new Set(device.split(","));
    for (const id of named ?? []) await devices.find(user, id);
    const inGroup = group === undefined ? undefined : new Set((await groups.find(user, group)).devices);
    return [seen, named, inGroup].reduce((ids, more) => (ids && more ? ids.intersection(more) : (ids ?? more)));
  }

  async function keysOf(user: User, ids: ReadonlySet<string>): Promise<readonly DeviceKey[]> {
    const keys: DeviceKey[] = [];
    for (const id of ids)
      try {
        keys.push((await devices.find(user, id)).key);
      } catch (error) {
        // A group may name devices that do not exist.
        if (!(error instanceof ApiError) || error.code !== "deviceNotFound") throw error;
      }
    return keys;
  }

  return async (user: User, query: AlertsQuery, order: AccountAlertsAsk["order"]): Promise<Whose> => {
    const ids = await idsOf(user, query);
    if (ids === undefined) return {};
    return order === "newest" && ids.size <= fewDevices ? { keys: await keysOf(user, ids) } : { ids };
  };
}

function viewsOf(
  alerts: readonly Parameters<typeof alertView>[0][],
  named: ReadonlyMap<DeviceKey, NamedDevice>,
): AccountAlert[] {
  return alerts.flatMap((alert) => {
    const device = named.get(alert.device);
    return device === undefined ? [] : { deviceId: device.id, deviceName: device.name, ...alertView(alert) };
  });
}

function rangeOf({ from, to }: AlertsQuery): Pick<AlertsWanted, "from" | "to"> {
  const [begin, end] = [from, to].map((text) => (text === undefined ? undefined : parseInstant(text)));
  if (begin !== undefined && end !== undefined && begin > end)
    throw new ApiError("badRequest", ["querystring/to: must not be before querystring/from"]);
  return { ...(begin !== undefined && { from: begin }), ...(end !== undefined && { to: end }) };
}

function textOf({ time, key }: AlertKey): string {
  return `${time}.${key}`;
}

function placeOf(text: string): AlertKey {
  const [time = 0, key = 0] = text.split(".").map(Number);
  return { time, key };
}
