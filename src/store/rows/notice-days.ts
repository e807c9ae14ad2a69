import type { Transaction } from "kysely";
import type { NoticeChannel } from "../../model/notice.ts";
import type { DayPlaces } from "../../ports/alert-store.ts";
import type { DailyKind, DailyTaken } from "../../ports/daily.ts";
import type { Schema } from "../schema.ts";
import type { NoticeRow } from "../schema-alerts.ts";
import { giveBackPlace, takePlace } from "./daily.ts";

/** The daily counter of a channel. Undefined when the channel has none. */
function kindOf(channel: NoticeChannel): DailyKind | undefined {
  return channel === "email" || channel === "sms" ? channel : undefined;
}

/** Takes the places of this day for a claimed notice, unless it holds them already or its channel is not counted. */
export async function takeDay(
  transaction: Transaction<Schema>,
  row: NoticeRow,
  { day, limit, accountLimit = Number.MAX_SAFE_INTEGER, count = 1 }: DayPlaces,
): Promise<DailyTaken> {
  const kind = kindOf(row.channel);
  if (kind === undefined || (row.counted_day === day && row.counted_places === count)) return "taken";
  await giveBackDay(transaction, row);
  const taken = await takePlace(transaction, row.device, day, kind, { device: limit, account: accountLimit }, count);
  if (taken !== "taken") return taken;
  const counted = { counted_day: day, counted_places: count };
  await transaction.updateTable("notice").set(counted).where("key", "=", row.key).execute();
  return "taken";
}

/** Gives back the places of a day that a notice holds, if it holds any. Runs in the caller's transaction. */
export async function giveBackDay(
  transaction: Transaction<Schema>,
  {
    device,
    channel,
    counted_day,
    counted_places,
  }: Pick<NoticeRow, "device" | "channel" | "counted_day" | "counted_places">,
): Promise<void> {
  const kind = kindOf(channel);
  if (kind !== undefined && counted_day !== null)
    await giveBackPlace(transaction, device, counted_day, kind, counted_places);
}
