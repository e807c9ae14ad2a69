import type { OldPositionsView } from "../contract/old-positions.ts";
import { formatInstant } from "../contract/time.ts";
import type { DeviceKey } from "../model/device.ts";
import { keptSince } from "../model/position-days.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { PositionKeeper } from "../ports/retention.ts";
import { type DeviceStore, type RetainedDevice, StoreUnavailable } from "../ports/store.ts";

/** The most devices of one query. */
const devicesAtOnce = 500;
/** What deleting old positions works with. */
export interface DeletionContext {
  readonly devices: Pick<DeviceStore, "retained" | "daysOf">;
  readonly keeper: Pick<PositionKeeper, "deleteBefore">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Controls a run of deletions: says before each step whether the run ends, and pauses it after each. */
export interface DeletionPace {
  ends(): boolean;
  pause(): Promise<void>;
}

/**
 * Deletes the positions that accounts and devices no longer keep, one bounded step of one device at a time. Returns how
 * many were deleted.
 */
export async function deleteOldPositions(context: DeletionContext, pace: DeletionPace): Promise<number> {
  const run = new Run(context, pace);
  await run.all();
  return run.deleted;
}

class Run {
  readonly #context: DeletionContext;
  readonly #pace: DeletionPace;
  deleted = 0;
  #failed = 0;
  /** Some time has passed since the days were read, so somebody may have changed them. */
  #isStale = false;

  constructor(context: DeletionContext, pace: DeletionPace) {
    this.#context = context;
    this.#pace = pace;
  }

  async all(): Promise<void> {
    const { devices, log } = this.#context;
    for (let after: DeviceKey | undefined = 0; after !== undefined && !this.#pace.ends(); ) {
      const page: readonly RetainedDevice[] = await devices.retained(after, devicesAtOnce);
      this.#isStale = false;
      for (const device of page) if (!this.#pace.ends()) await this.#try(device);
      after = page.length < devicesAtOnce ? undefined : page.at(-1)?.key;
    }
    if (this.#failed > 0)
      log.warn({ devices: this.#failed }, "old positions of some devices could not be deleted; it is tried again");
  }

  async #try(device: RetainedDevice): Promise<void> {
    try {
      await this.#delete(device);
    } catch (error) {
      if (error instanceof StoreUnavailable && error.trouble === "down") throw error;
      // The fault concerns this device alone: the others go on.
      if (this.#failed++ === 0)
        this.#context.log.warn({ device: device.key, error }, "old positions of a device can't be deleted");
      await this.#pause();
    }
  }

  async #delete({ key, days }: RetainedDevice): Promise<void> {
    const { devices, keeper, clock } = this.#context;
    const kept = this.#isStale ? await devices.daysOf(key) : days;
    if (kept === undefined || this.#pace.ends()) return;
    const deleted = await keeper.deleteBefore(key, keptSince(kept, clock.now()));
    this.deleted += deleted;
    if (deleted > 0) await this.#pause();
  }

  async #pause(): Promise<void> {
    await this.#pace.pause();
    this.#isStale = true;
  }
}

/** What a preview needs of the service. */
export interface PreviewContext {
  readonly store: { readonly devices: Pick<DeviceStore, "withoutOwnDays"> };
  readonly positionKeeper: Pick<PositionKeeper, "oldPositions">;
  readonly clock: Clock;
}

/** What would be deleted of these devices if their positions were kept for `days` days. */
export async function previewOfDevices(
  { positionKeeper, clock }: PreviewContext,
  pages: AsyncIterable<readonly DeviceKey[]>,
  days: number,
): Promise<OldPositionsView> {
  const before = keptSince(days, clock.now());
  let [devices, positions, from, to] = [0, 0, Number.POSITIVE_INFINITY, 0];
  for await (const page of pages)
    for (const old of await positionKeeper.oldPositions(page, before)) {
      if (old.count === 0) continue;
      devices++;
      positions += old.count;
      from = Math.min(from, old.from);
      to = Math.max(to, old.to);
    }
  const range = devices === 0 ? { from: null, to: null } : { from: formatInstant(from), to: formatInstant(to) };
  return { days, before: formatInstant(before), devices, positions, ...range };
}

/** The devices of an account that have no days of their own, page by page. */
export async function* devicesOfAccount(
  { store }: Pick<PreviewContext, "store">,
  accountKey: number,
): AsyncGenerator<readonly DeviceKey[]> {
  for (let after: DeviceKey | undefined = 0; after !== undefined; ) {
    const keys: readonly DeviceKey[] = await store.devices.withoutOwnDays(accountKey, after, devicesAtOnce);
    yield keys;
    after = keys.length < devicesAtOnce ? undefined : keys.at(-1);
  }
}
