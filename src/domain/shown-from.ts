import type { Device, DeviceKey } from "../model/device.ts";
import { keptSince } from "../model/position-days.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { PositionKeeper } from "../ports/retention.ts";
import { type AccountStore, StoreUnavailable } from "../ports/store.ts";
import { createCache } from "./cache.ts";

/** Accounts whose days are kept in memory, for a moment: the event of a change may be lost. */
const keptAccounts = 1000;
const maxAgeMs = 10_000;
const mostBytes = 1_048_576;

/** Event time from which on positions of a device are shown. What is older is deleted or soon will be. */
export type ShownFrom = (device: Device) => Promise<number>;

/** What tells it. */
export interface ShownFromContext {
  readonly store: { readonly accounts: Pick<AccountStore, "find"> };
  readonly positionKeeper: Pick<PositionKeeper, "keptFrom">;
  readonly bus: Bus;
  readonly clock: Clock;
}

/** Tells from when on positions are shown, by the days of the device or its account, and by what was deleted already. */
export function createShownFrom({ store, positionKeeper, bus, clock }: ShownFromContext): ShownFrom {
  const days = createCache<number, { readonly days: number | null }>({
    clock,
    async load(key) {
      return { days: (await store.accounts.find(key))?.positionDays ?? null };
    },
    maxAgeMs,
    capacity: keptAccounts,
    mostBytes,
  });
  bus.subscribe((event) => {
    if (event.type === "rulesChanged") days.drop(event.accountKey);
  });
  return async ({ key, accountKey, positionDays }) => {
    const kept = positionDays ?? (await days.get(accountKey))?.days ?? null;
    const deleted = (await deletedBefore(positionKeeper, key)) ?? Number.NEGATIVE_INFINITY;
    return kept === null ? deleted : Math.max(deleted, keptSince(kept, clock.now()));
  };
}

/** Event time before which positions were deleted. Where the device's state is damaged nobody knows it, and all that is there is shown: the history may be whole. */
async function deletedBefore(keeper: ShownFromContext["positionKeeper"], device: DeviceKey) {
  try {
    return await keeper.keptFrom(device);
  } catch (error) {
    if (error instanceof StoreUnavailable && error.trouble === "damaged") return undefined;
    throw error;
  }
}
