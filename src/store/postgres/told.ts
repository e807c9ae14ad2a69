import type { BusEvent, CommittedDevice, HeardDevice, ReachChange } from "../../ports/bus.ts";

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

/**
 * What is to be told to the other processes. What comes of devices by itself is merged for each device: so it takes
 * bounded memory, and can be written at once, also after hours without the server.
 */
export class Untold {
  #events: BusEvent[] = [];
  /** That it was reached, and that it is no longer. */
  readonly #reach = new Map<string, readonly ReachChange[]>();
  readonly #heard = new Map<number, HeardDevice>();
  readonly #found = new Map<number, CommittedDevice>();
  readonly #changed = new Map<number, Set<number>>();

  get isEmpty(): boolean {
    const merged = this.#reach.size + this.#heard.size + this.#found.size + this.#changed.size;
    return this.#events.length + merged === 0;
  }

  add(event: BusEvent): void {
    if (event.type === "committed") for (const device of event.devices) this.#commit(device);
    else if (event.type === "reachChanged") for (const change of event.devices) this.#reached(change);
    else if (event.type === "heard") for (const device of event.devices) this.#heard.set(device.key, device);
    else this.#events.push(event);
  }

  #reached(change: ReachChange): void {
    const before = this.#reach.get(change.id)?.find(({ mark }) => mark !== undefined);
    this.#reach.set(change.id, change.mark === undefined && before !== undefined ? [before, change] : [change]);
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
    const events = [...this.#events];
    if (this.#reach.size > 0) events.push({ type: "reachChanged", devices: [...this.#reach.values()].flat() });
    if (this.#heard.size > 0) events.push({ type: "heard", devices: [...this.#heard.values()] });
    const told: Told = { events, found: [...this.#found.values()], changed };
    this.#events = [];
    this.#reach.clear();
    this.#heard.clear();
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
