import type { BusEvent, CommittedDevice } from "../../ports/bus.ts";

/**
 * What is told at a time, as it is stored. Most of it are devices that something came from: short, since they may be
 * thousands.
 */
interface Told {
  readonly events: readonly BusEvent[];
  /** Devices of which rules found something. */
  readonly found: readonly CommittedDevice[];
  /** The others that commits changed, by their accounts. */
  readonly changed: readonly (readonly [accountKey: number, keys: readonly number[]])[];
}

/** What is to be told to the other processes, with the commits of each device as one. */
export class Untold {
  #events: BusEvent[] = [];
  readonly #found = new Map<number, CommittedDevice>();
  readonly #changed = new Map<number, Set<number>>();

  get isEmpty(): boolean {
    return this.#events.length === 0 && this.#found.size === 0 && this.#changed.size === 0;
  }

  add(event: BusEvent): void {
    if (event.type !== "committed") this.#events.push(event);
    else for (const device of event.devices) this.#commit(device);
  }

  #commit({ device: { key, accountKey }, plan: { alerts = [], ended = [] } }: CommittedDevice): void {
    if (alerts.length === 0 && ended.length === 0) {
      const keys = this.#changed.get(accountKey);
      if (keys === undefined) this.#changed.set(accountKey, new Set([key]));
      else keys.add(key);
      return;
    }
    const before = this.#found.get(key)?.plan;
    const plan = {
      alerts: [...(before?.alerts ?? []), ...alerts.map(({ id }) => ({ id }))],
      ended: [...(before?.ended ?? []), ...ended],
    };
    this.#found.set(key, { device: { key, accountKey }, plan });
  }

  /** Takes everything, as a text. */
  take(): string {
    const changed = [...this.#changed].map(([account, keys]) => [account, [...keys]] as const);
    const told: Told = { events: this.#events, found: [...this.#found.values()], changed };
    this.#events = [];
    this.#found.clear();
    this.#changed.clear();
    return JSON.stringify(told);
  }
}

/** What a text tells that another process made. Commits come last: a listener then knows their devices. */
export function toldIn(text: string): readonly BusEvent[] {
  // Processes of one version share a database.
  const { events, found, changed } = JSON.parse(text) as Told;
  const plain = changed.flatMap(([accountKey, keys]) => keys.map((key) => ({ device: { key, accountKey }, plan: {} })));
  const devices = [...plain, ...found];
  return devices.length === 0 ? events : [...events, { type: "committed", devices }];
}
