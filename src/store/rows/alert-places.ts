import type { Kysely, SelectQueryBuilder } from "kysely";
import type { DeviceKey } from "../../model/device.ts";
import type { AccountAlertsAsk, AlertKey, AlertPlaces, AlertsWanted } from "../../ports/alert-store.ts";
import type { Schema } from "../schema.ts";
import { alertStates, isCritical, isOpen } from "./alert-states.ts";

/**
 * Alerts that one question looks at where it filters: their rows are read, some milliseconds of the engine's thread.
 */
const lookedAt = 2000;

/** Alerts in some index. */
type Alerts = SelectQueryBuilder<Schema, "alert", object>;

/** A place with its device. */
type Place = AlertPlaces["places"][number];

/** Where alerts of an account are: see `AlertStore.places`. */
export async function alertPlaces(
  database: Kysely<Schema>,
  accountKey: number,
  { order, wanted, devices, after, limit }: AccountAlertsAsk,
): Promise<AlertPlaces> {
  const alerts: Alerts = database.selectFrom("alert");
  const ofAccount = alerts.where("account", "=", accountKey);
  if (order === "found") return foundAfter(ofAccount, wanted, after?.key ?? 0, limit);
  if (devices !== undefined) return newestOf(alerts, devices, { wanted, after, limit });
  const [own, filter] = narrowed(alerts, ofAccount, wanted);
  return newestBefore(own, filter, after, limit);
}

/** The alerts of the index in which the least of the account's are, and what is still to be filtered. */
function narrowed(alerts: Alerts, ofAccount: Alerts, wanted: AlertsWanted): readonly [Alerts, AlertsWanted] {
  const { state, critical, ruleKey, type, ...range } = wanted;
  // A rule is of one account. Without the account, no engine takes an index of all that the account has.
  if (ruleKey !== undefined) return [alerts.where("rule", "=", ruleKey), { ...wanted, ruleKey: undefined }];
  if (state === "open" || state === "acknowledged") return [ofAccount.where(isOpen), wanted];
  if (critical === true) return [ofAccount.where(isCritical), { ...wanted, critical: undefined }];
  if (type !== undefined) return [ofAccount.where("type", "=", type), { ...range, state, critical }];
  return [ofAccount, wanted];
}

/**
 * What several devices have, merged. What lies behind the place at which the look at one of them ended is left for the
 * next question.
 */
async function newestOf(
  alerts: Alerts,
  devices: readonly DeviceKey[],
  { wanted, after, limit }: Pick<AccountAlertsAsk, "wanted" | "after" | "limit">,
): Promise<AlertPlaces> {
  const each: AlertPlaces[] = [];
  for (const device of devices)
    each.push(await newestBefore(alerts.where("device", "=", device), wanted, after, limit));
  const ends = each.flatMap(({ next }) => next ?? []).toSorted(newestFirst);
  const places = each.flatMap((one) => one.places).toSorted(newestFirst);
  const [end] = ends;
  const seen = end === undefined ? places : places.filter((place) => newestFirst(place, end) <= 0);
  return cut(seen, limit, end);
}

async function newestBefore(
  own: Alerts,
  wanted: AlertsWanted,
  after: AlertKey | undefined,
  limit: number,
): Promise<AlertPlaces> {
  let range = own;
  if (wanted.from !== undefined) range = range.where("time", ">=", wanted.from);
  if (wanted.to !== undefined) range = range.where("time", "<=", wanted.to);
  if (after !== undefined)
    range = range.where(({ eb, refTuple, tuple }) => eb(refTuple("time", "key"), "<", tuple(after.time, after.key)));
  const newest = (some: Alerts) => some.select(["time", "key"]).orderBy("time", "desc").orderBy("key", "desc");
  const end = filters(wanted) ? await nth(newest(range), Math.max(lookedAt, limit)) : undefined;
  if (end !== undefined)
    range = range.where(({ eb, refTuple, tuple }) => eb(refTuple("time", "key"), ">=", tuple(end.time, end.key)));
  const places = await newest(filtered(range, wanted))
    .select("device")
    .limit(limit + 1)
    .execute();
  return cut(places, limit, end);
}

async function foundAfter(own: Alerts, wanted: AlertsWanted, after: number, limit: number): Promise<AlertPlaces> {
  const behind = own.where("key", ">", after);
  const end = await nth(behind.select(["time", "key"]).orderBy("key"), Math.max(lookedAt, limit));
  let range = filtered(behind, wanted);
  if (end !== undefined) range = range.where("key", "<=", end.key);
  if (wanted.from !== undefined) range = range.where("time", ">=", wanted.from);
  if (wanted.to !== undefined) range = range.where("time", "<=", wanted.to);
  const places = await range
    .select(["time", "key", "device"])
    .orderBy("key")
    .limit(limit + 1)
    .execute();
  return cut(places, limit, end);
}

/** The place of that number; undefined: there are fewer. */
function nth(places: SelectQueryBuilder<Schema, "alert", AlertKey>, number: number): Promise<AlertKey | undefined> {
  return places
    .offset(number - 1)
    .limit(1)
    .executeTakeFirst();
}

/** Whether alerts that are looked at may be none that are wanted. */
function filters({ from: _from, to: _to, ...wanted }: AlertsWanted): boolean {
  return Object.values(wanted).some((value) => value !== undefined);
}

function filtered(alerts: Alerts, { ruleKey, type, state, critical }: AlertsWanted): Alerts {
  let found = alerts;
  if (ruleKey !== undefined) found = found.where("rule", "=", ruleKey);
  if (type !== undefined) found = found.where("type", "=", type);
  if (state !== undefined) found = found.where("state", "=", alertStates.indexOf(state));
  if (critical !== undefined) found = found.where("critical", "=", critical ? 1 : 0);
  return found;
}

/** `end`: the last place that was looked at, where there may be more behind it. */
function cut(places: readonly Place[], limit: number, end: AlertKey | undefined): AlertPlaces {
  if (places.length <= limit) return { places, next: end };
  const some = places.slice(0, limit);
  return { places: some, next: some.at(-1) };
}

function newestFirst(one: AlertKey, other: AlertKey): number {
  return other.time - one.time || other.key - one.key;
}
