import type { BusEvent, CommittedDevice } from "../../ports/bus.ts";

/** What is to be told to the other processes, with the commits of each device as one. */
export class Untold {
  #events: BusEvent[] = [];
  readonly #committed = new Map<number, CommittedDevice>();

  get isEmpty(): boolean {
    return this.#events.length === 0 && this.#committed.size === 0;
  }

  add(event: BusEvent): void {
    if (event.type !== "committed") this.#events.push(event);
    else for (const device of event.devices) this.#committed.set(device.device.key, this.#with(device));
  }

  #with({ device: { key, accountKey }, plan: { alerts = [], ended = [] } }: CommittedDevice): CommittedDevice {
    const before = this.#committed.get(key)?.plan;
    return {
      device: { key, accountKey },
      plan: {
        alerts: [...(before?.alerts ?? []), ...alerts.map(({ id }) => ({ id }))],
        ended: [...(before?.ended ?? []), ...ended],
      },
    };
  }

  /** Takes everything, commits last: a listener then knows their devices. */
  take(): readonly BusEvent[] {
    const devices = [...this.#committed.values()];
    const events = [...this.#events, ...(devices.length > 0 ? [{ type: "committed" as const, devices }] : [])];
    this.#events = [];
    this.#committed.clear();
    return events;
  }
}
