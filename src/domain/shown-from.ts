import type { Device, DeviceKey } from "../model/device.ts";
import { keptSince } from "../model/position-days.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { PositionKeeper } from "../ports/retention.ts";
import { type AccountStore, StoreUnavailable } from "../ports/store.ts";
import { createCache, dropWhereMissed } from "./cache.ts";

/** The most accounts whose days are cached. They are cached briefly, because the event of a change may be lost. */
const keptAccounts = 1000;
const maxAgeMs = 10_000;
const mostBytes = 1_048_576;

/** Event time from which on positions of a device are shown. Older ones are deleted or soon will be. */
export type ShownFrom = (device: Device) => Promise<number>;

/** What `createShownFrom` works with. */
export interface ShownFromContext {
  readonly store: { readonly accounts: Pick<AccountStore, "find"> };
  readonly positionKeeper: Pick<PositionKeeper, "keptFrom">;
  readonly bus: Bus;
  readonly clock: Clock;
}

/**
 * Tells from when on a device's positions are shown, by its own days or its account's, and by what was deleted already.
 */
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
  dropWhereMissed(bus, days);
  bus.subscribe((event) => {
    if (event.type === "rulesChanged") days.drop(event.accountKey);
  });
  return async ({ key, accountKey, positionDays }) => {
    const kept = positionDays ?? (await days.get(accountKey))?.days ?? null;
    const deleted = (await deletedBefore(positionKeeper, key)) ?? Number.NEGATIVE_INFINITY;
    return kept === null ? deleted : Math.max(deleted, keptSince(kept, clock.now()));
  };
}

/**
 * Event time before which positions were deleted. Undefined also when the device's state, which knows it, is damaged:
 * then everything that is there is shown, since it may be all.
 */
async function deletedBefore(keeper: ShownFromContext["positionKeeper"], device: DeviceKey) {
  try {
    return await keeper.keptFrom(device);
  } catch (error) {
    if (error instanceof StoreUnavailable && error.trouble === "damaged") return undefined;
    throw error;
  }
}
