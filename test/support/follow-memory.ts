import type { Day, DeviceHead } from "../../src/model/follow.ts";
import type { TotalsSums } from "../../src/model/location.ts";
import type { DaysAsk, FollowCommit, FollowStore } from "../../src/ports/follow.ts";
import { StoreUnavailable } from "../../src/ports/store.ts";

const noSums: TotalsSums = { odometerMm: 0, sensorMs: [0, 0, 0, 0] };

/** Sums of days that are there. */
export function sumsOf(days: Iterable<Day>): TotalsSums {
  let { odometerMm, sensorMs } = noSums;
  for (const { end } of days) {
    const { totals } = end;
    odometerMm += totals.odometerMm;
    const ms = (input: 0 | 1 | 2 | 3) => sensorMs[input] + totals.sensorMs[input];
    sensorMs = [ms(0), ms(1), ms(2), ms(3)];
  }
  return { odometerMm, sensorMs };
}

/** A `FollowStore` in memory. What was committed is kept as text, so that nothing is shared. */
export class MemoryFollow implements FollowStore {
  readonly committed: FollowCommit[] = [];
  /** Thrown by the next calls. */
  failure: Error | undefined;
  /** Devices whose heads are damaged, until they are committed again. */
  readonly damaged = new Set<number>();
  /** Whoever asks what days hold waits for it. */
  asked: Promise<void> | undefined;
  readonly #heads = new Map<number, string>();
  readonly #days = new Map<number, Map<number, string>>();
  /** Days that were deleted: their sums stay. */
  readonly #forgotten = new Map<number, readonly Day[]>();

  async heads(devices: readonly number[]): Promise<readonly (DeviceHead | undefined)[]> {
    await this.#turn();
    if (devices.some((device) => this.damaged.has(device)))
      throw new StoreUnavailable("a damaged head", undefined, "damaged");
    return devices.map((device) => {
      const text = this.#heads.get(device);
      return text === undefined ? undefined : JSON.parse(text);
    });
  }

  async lateDevices(after: number, limit: number): Promise<readonly number[]> {
    await this.#turn();
    const late = [...this.#heads].filter(([key, text]) => key > after && JSON.parse(text).late.length > 0);
    return late
      .map(([key]) => key)
      .sort((one, other) => one - other)
      .slice(0, limit);
  }

  async commit(batch: readonly FollowCommit[]): Promise<void> {
    await this.#turn();
    for (const commit of batch) {
      this.committed.push(commit);
      this.damaged.delete(commit.device);
      this.#heads.set(commit.device, JSON.stringify(commit.head));
      const days = this.#days.get(commit.device) ?? new Map<number, string>();
      this.#days.set(commit.device, days);
      for (const day of commit.days) days.set(day.day, JSON.stringify(day));
    }
  }

  /** Days that have ended, in their order. */
  daysOf(device: number): readonly Day[] {
    const days = [...(this.#days.get(device) ?? [])].sort(([one], [other]) => one - other);
    return days.map(([, text]) => JSON.parse(text));
  }

  async days(device: number, { from = -1e9, to = 1e9, order, limit }: DaysAsk): Promise<readonly Day[]> {
    await this.#turn();
    const within = this.daysOf(device).filter(({ day }) => day >= from && day <= to);
    return order === "first" ? within.slice(0, limit) : within.toReversed().slice(0, limit);
  }

  async sumsBefore(device: number, day: number): Promise<TotalsSums> {
    await this.#turn();
    const days = this.daysOf(device).filter((one) => one.day < day);
    return sumsOf([...(this.#forgotten.get(device) ?? []), ...days]);
  }

  async daysBefore(devices: readonly number[], before: number) {
    await this.asked;
    await this.#turn();
    return devices.map((device) => {
      const days = this.daysOf(device).filter(({ day }) => day < before);
      const records = days.reduce((sum, { end }) => sum + end.records, 0);
      return { records, from: days[0]?.end.time ?? 0, to: days.at(-1)?.end.time ?? 0 };
    });
  }

  async forgetDays(device: number, before: number): Promise<void> {
    await this.#turn();
    const old = this.daysOf(device).filter(({ day }) => day < before);
    this.#forgotten.set(device, [...(this.#forgotten.get(device) ?? []), ...old]);
    for (const { day } of old) this.#days.get(device)?.delete(day);
  }

  async #turn(): Promise<void> {
    await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
  }
}
