import { formatInstant } from "../../contract/time.ts";
import type { Command } from "../../model/command.ts";
import type { Device, DeviceKey } from "../../model/device.ts";
import type { CommittedDevice } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { LastLocations, Latest } from "../../ports/last-location.ts";
import type { Log } from "../../ports/log.ts";
import type { Presence } from "../../ports/presence.ts";
import type { Store } from "../../ports/store.ts";
import type { RecentMap } from "../../shares/recent-map.ts";
import { alertView } from "../alerts.ts";
import { commandView } from "../command-view.ts";
import { AlertNews } from "./alert-news.ts";
import { type Change, ChangeLog } from "./change-log.ts";
import { aboutDevice, type Framed, type LiveChange, type LiveChanges, type LiveDevice } from "./changes.ts";
import { eventFrame } from "./frame.ts";
import type { Listener } from "./listener.ts";

/**
 * Bytes of an account's newest alerts, commands and devices that went: some thousand, which a reader that was away for
 * minutes may have missed.
 */
const ringBytes = 1_048_576;
/** Devices of one question of the store, and their bytes. */
const askedDevices = 500;
const pageBytes = 4_194_304;

/** What feeds need of the service. */
export interface FeedContext {
  readonly store: Pick<Store, "alerts" | "devices">;
  readonly lastLocations: Pick<LastLocations, "latest">;
  readonly presence: Pick<Presence, "contact">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** The newest events of positions, for the listeners who come to them next. */
  readonly frames: RecentMap<LiveChange, Framed>;
  /** There is something to send. */
  readonly changed: () => void;
  /** A listener was slower than changes, and gets the newer ones alone. */
  readonly replaced: () => void;
}

/** What happens to the devices of one account, as long as somebody listens. */
export class AccountFeed implements LiveChanges {
  readonly changes = new ChangeLog<LiveChange>(ringBytes);
  readonly listeners = new Set<Listener>();
  /** Begins the ids of its events, so that those of a feed before it are known as another's. */
  readonly id: string;
  /** Place of the last change of who sees what. */
  rightsAt = 0;
  /** Up to here every listener has read; where that was looked at last. */
  readBy = 0;
  readonly #accountKey: number;
  readonly #context: FeedContext;
  readonly #alerts: AlertNews;
  readonly #devices = new Map<string, LiveDevice>();
  readonly #byKey = new Map<DeviceKey, LiveDevice>();
  /** Ids of devices that are to be read again. */
  readonly #doubted = new Set<string>();
  #indexes = 0;
  #loading: Promise<void> | undefined;
  #loaded = false;
  #reading = false;

  constructor(accountKey: number, context: FeedContext) {
    this.#accountKey = accountKey;
    this.#context = context;
    this.id = context.ids.secret(6);
    this.#alerts = new AlertNews({
      accountKey,
      alerts: context.store.alerts,
      tell: ({ device: key, ...alert }) => {
        const device = this.#byKey.get(key);
        if (device === undefined) return;
        const data = { deviceId: device.id, deviceName: device.name, ...alertView({ ...alert, device: key }) };
        this.#add("alert", device, alert.id, data);
      },
      lost: (error) => {
        if (error !== undefined)
          context.log.warn({ error, account: accountKey }, "alerts could not be told to streams");
        this.changes.lose();
        context.changed();
      },
    });
  }

  /** Reads the devices of the account. Rejects where they can't be read; then it may be tried again. */
  load(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  has({ id, key }: LiveDevice): boolean {
    return this.#devices.get(id)?.key === key;
  }

  committed({ device: { key }, plan: { alerts, ended } }: CommittedDevice): void {
    const device = this.#byKey.get(key);
    if (device === undefined) return;
    this.#put("location", device);
    if (alerts !== undefined && alerts.length > 0) this.#alerts.add(alerts.map(({ id }) => id));
    if (ended !== undefined && ended.length > 0) this.#alerts.ended(key, ended);
  }

  handled(alerts: readonly string[]): void {
    this.#alerts.add(alerts);
  }

  command(command: Command): void {
    const device = this.#byKey.get(command.device);
    if (device === undefined) return;
    this.#add("command", device, command.id, { deviceId: device.id, command: commandView(command) });
  }

  reachChanged(id: string): void {
    const device = this.#devices.get(id);
    if (device !== undefined) this.#put("status", device);
  }

  /** The device was made, changed or deleted, or has expired. */
  deviceChanged(id: string): void {
    this.#doubted.add(id);
    this.readDoubted();
  }

  /** Reads again what could not be read before. */
  readDoubted(): void {
    if (this.#reading || !this.#loaded || this.#doubted.size === 0) return;
    this.#reading = true;
    this.#readDoubted()
      .catch((error: unknown) =>
        this.#context.log.warn({ error, account: this.#accountKey }, "changed devices could not be told to streams"),
      )
      .finally(() => {
        this.#reading = false;
      });
  }

  cursor(seq: number): string {
    return `${this.id}-${seq}`;
  }

  /** The place of an event's id; undefined: it is not one of this feed. */
  placeOf(cursor: string): number | undefined {
    if (!cursor.startsWith(`${this.id}-`)) return undefined;
    const seq = Number(cursor.slice(this.id.length + 1));
    return Number.isSafeInteger(seq) && seq >= 0 && seq <= this.changes.newest ? seq : undefined;
  }

  framed({ seq, value }: Change<LiveChange>): Framed | Promise<Framed> {
    if ("frame" in value) return value;
    const { frames } = this.#context;
    const kept = frames.get(value);
    if (kept !== undefined) return kept;
    const make = (latest: Latest) => {
      const made = this.#frame(value.kind, value.device, latest, this.cursor(seq));
      frames.set(value, made);
      return made;
    };
    const latest = this.#context.lastLocations.latest(value.device);
    return latest instanceof Promise ? latest.then(make) : make(latest);
  }

  #frame(kind: "location" | "status", device: LiveDevice, latest: Latest, cursor: string): Framed {
    const { json, position, receivedAt } = latest;
    const contact = this.#context.presence.contact(device);
    const at = Math.max(contact?.at ?? 0, receivedAt ?? 0);
    const status = JSON.stringify({
      connected: contact?.connected ?? false,
      ...(contact !== undefined && { protocol: contact.protocol }),
      lastContact: at === 0 ? null : formatInstant(at),
    });
    const location = kind === "location" ? `"location":${json ?? "null"},` : "";
    const data = `{"deviceId":${JSON.stringify(device.id)},${location}"status":${status}}`;
    return { frame: eventFrame(kind, data, cursor), position, status };
  }

  async #load(): Promise<void> {
    const { store, clock } = this.#context;
    for (let after: string | undefined; ; ) {
      const ask = { ...(after !== undefined && { after }), limit: askedDevices, bytes: pageBytes };
      const { rows, more } = await store.devices.page(this.#accountKey, clock.now(), ask);
      for (const device of rows) this.#enter(device);
      after = rows.at(-1)?.id;
      if (!more || after === undefined) break;
    }
    this.#loaded = true;
    this.readDoubted();
  }

  async #readDoubted(): Promise<void> {
    const { store, clock } = this.#context;
    while (this.#doubted.size > 0) {
      const ids = this.#doubted.values().take(askedDevices).toArray();
      for (const id of ids) this.#doubted.delete(id);
      const found = await store.devices.some(this.#accountKey, ids, clock.now()).catch((error: unknown) => {
        for (const id of ids) this.#doubted.add(id);
        throw error;
      });
      const there = new Set(found.map(({ id }) => id));
      for (const id of ids) if (!there.has(id)) this.#leave(id);
      for (const device of found) this.#enter(device);
    }
  }

  #enter({ key, id, name, odometerStart }: Device): void {
    const before = this.#devices.get(id);
    const device = { key, id, name, odometerStart, index: before?.index ?? this.#indexes++ };
    this.#devices.set(id, device);
    if (before !== undefined && before.key !== key) this.#forget(before);
    this.#byKey.set(key, device);
    this.changes.remove(`gone ${id}`);
    this.#put("location", device);
  }

  #leave(id: string): void {
    const device = this.#devices.get(id);
    if (device === undefined) return;
    this.#devices.delete(id);
    this.#forget(device);
    this.#add("gone", device, id, { deviceId: id });
  }

  #forget({ key, id }: LiveDevice): void {
    this.#byKey.delete(key);
    for (const kind of ["location", "status"] as const) this.changes.remove(aboutDevice(kind, id));
  }

  #put(kind: "location" | "status", device: LiveDevice): void {
    const before = this.changes.put(aboutDevice(kind, device.id), { kind, device });
    const { frames, replaced, changed } = this.#context;
    if (before !== undefined) {
      frames.delete(before.value);
      if (before.seq > this.readBy) replaced();
    }
    changed();
  }

  #add(kind: "alert" | "command" | "gone", device: LiveDevice, about: string, data: object): void {
    const frame = eventFrame(kind, JSON.stringify(data), this.cursor(this.changes.newest + 1));
    this.changes.put(`${kind} ${about}`, { kind, device, frame }, frame.length);
    this.#context.changed();
  }
}
