import { allPages, answer, api } from "../api/client.ts";
import type { components } from "../api/schema.ts";
import { checkSession, session } from "../api/session.svelte.ts";
import { shownText } from "../words/shown.ts";
import { type Alert, type Location, positionOf, type Status, type StreamEvents } from "./events.ts";
import { FleetStore, type KnownDevice } from "./store.ts";
import { followTogether } from "./tabs.ts";

/** A device as the list of devices has it. */
export type Device = components["schemas"]["Device"];

/** The newest state of every device. */
export const fleet = new FleetStore(Date.now());

/** Lists are drawn again at most so often. */
const tickMs = 250;
/** How often devices are judged by the clock alone. */
const judgeMs = 5000;

let version = $state(0);
let now = $state(Date.now());
let open = $state(true);
let eventAt = $state(Date.now());
let devices = $state.raw<ReadonlyMap<string, Device>>(new Map());
let alerts = $state.raw<ReadonlyMap<string, Alert>>(new Map());
let told = $state.raw<ReadonlyMap<string, Alert>>(new Map());
let complete = $state(false);
let listed = $state(false);

/** Grows, at most four times a second, when something of the fleet has changed. */
export function fleetVersion(): number {
  return version;
}
/** The time, a second exact. */
export function clock(): number {
  return now;
}
/** When the service last said something. */
export function lastEventAt(): number {
  return eventAt;
}
/** Whether what is shown may be old. */
export function isLate(): boolean {
  return !open && now - eventAt > 3000;
}
/** Devices by id. */
export function deviceList(): ReadonlyMap<string, Device> {
  return devices;
}
/** Whether an id is no device's. Until the list was read nobody knows. */
export function isUnknown(id: string): boolean {
  return listed && !devices.has(id);
}
/** A device's name as it is shown; its id where it has none. */
export function nameOf(id: string): string {
  return shownText(devices.get(id)?.name || id);
}
/** Alerts that nobody has closed, by id. */
export function openAlerts(): ReadonlyMap<string, Alert> {
  return alerts;
}
/** Alerts that came or changed since the page was opened, by id. */
export function heardAlerts(): ReadonlyMap<string, Alert> {
  return told;
}
/** Whether the present has come, and what comes from now on is new. */
export function isComplete(): boolean {
  return complete;
}

type Heard = { readonly [K in "location" | "status" | "command"]: Set<(data: StreamEvents[K]) => void> };
const heard: Heard = { location: new Set(), status: new Set(), command: new Set() };

/** Hears events of a kind until the answer is called: for the device that is looked at. */
export function hear<K extends keyof Heard>(kind: K, hearer: (data: StreamEvents[K]) => void): () => void {
  const hearers: Set<(data: StreamEvents[K]) => void> = heard[kind];
  hearers.add(hearer);
  return () => hearers.delete(hearer);
}

function tellOf<K extends keyof Heard>(kind: K, data: StreamEvents[K]): void {
  const hearers: Set<(data: StreamEvents[K]) => void> = heard[kind];
  for (const hearer of hearers) hearer(data);
}

/** Reads the list of devices again. */
export async function loadDevices(): Promise<void> {
  const list = await allPages(
    (cursor) => answer(api.GET("/api/devices", { params: { query: { limit: "10000", ...(cursor && { cursor }) } } })),
    (page) => page.devices,
  );
  devices = new Map(list.map((device) => [device.id, device]));
  listed = true;
  for (const id of fleet.ids) if (id !== undefined && !devices.has(id)) fleet.remove(id);
}

async function loadAlerts(): Promise<void> {
  const before = told;
  const list = await allPages(
    (cursor) =>
      answer(
        api.GET("/api/alerts", { params: { query: { state: "open", limit: "1000", ...(cursor && { cursor }) } } }),
      ),
    (page) => page.alerts,
    2000,
  );
  alerts = new Map(list.map((alert) => [alert.id, alert]));
  // What was told while the list was read is newer than the list.
  for (const [id, alert] of told) if (before.get(id) !== alert) takeAlert(alert);
  markAlerts();
}

function markAlerts(): void {
  const critical = new Set([...alerts.values()].filter(isPressing).map(({ deviceId }) => deviceId));
  for (const id of fleet.ids) if (id !== undefined) fleet.setAlert(id, critical.has(id), Date.now());
}

/** A critical alert that nobody has taken in hand. */
export function isPressing({ critical, state }: Alert): boolean {
  return critical && state === "open";
}

/** Takes an alert as it is now: from the stream, or from an answer. */
export function takeAlert(alert: Alert): void {
  const next = new Map(alerts);
  told = newestOf(told, alert);
  // What follows an alert's end tells of it by itself; it is not to be acted on.
  if (alert.state === undefined) return;
  if (alert.state === "closed") next.delete(alert.id);
  else next.set(alert.id, alert);
  alerts = next;
  const pressing = [...next.values()].some((other) => other.deviceId === alert.deviceId && isPressing(other));
  fleet.setAlert(alert.deviceId, pressing, Date.now());
}

/** A page that stays open for weeks keeps the last of them. */
const mostTold = 2000;

function newestOf(before: ReadonlyMap<string, Alert>, alert: Alert): ReadonlyMap<string, Alert> {
  const next = new Map(before);
  next.delete(alert.id);
  next.set(alert.id, alert);
  for (const oldest of next.keys()) {
    if (next.size <= mostTold) break;
    next.delete(oldest);
  }
  return next;
}

function takeStatus(id: string, { connected, lastContact }: Status): void {
  fleet.setStatus(id, connected, lastContact ? Date.parse(lastContact) : 0, Date.now());
}

let reading: ReturnType<typeof setTimeout> | undefined;
/** Devices that were told since the present began anew; undefined: it has not. */
let toldAnew: Set<string> | undefined;

/** What was told before counts no more: who is not told again until the present is complete is gone. */
function beginAnew(): void {
  toldAnew = new Set();
  loadDevices().catch(() => undefined);
  loadAlerts().catch(() => undefined);
}

function completeNow(): void {
  complete = true;
  for (const id of fleet.ids) if (id !== undefined && toldAnew?.has(id) === false) fleet.remove(id);
  toldAnew = undefined;
  markAlerts();
}

function takeLocation(id: string, location: Location | null, status: Status | undefined): void {
  toldAnew?.add(id);
  if (location !== null) fleet.move(id, positionOf(location), Date.now());
  if (status !== undefined) takeStatus(id, status);
  if (devices.has(id) || reading !== undefined) return;
  // A device that was added meanwhile: its name comes with the list, which is read once for all of them.
  reading = setTimeout(() => {
    reading = undefined;
    loadDevices().catch(() => undefined);
  }, 1000);
}

/** What this tab knows, for another one. */
interface Present {
  readonly devices: readonly KnownDevice[];
  readonly complete: boolean;
}

function takePresent({ devices: known, complete: isWhole }: Present): void {
  const now = Date.now();
  const ids = new Set(known.map(({ id }) => id));
  for (const id of fleet.ids) if (id !== undefined && !ids.has(id)) fleet.remove(id);
  for (const device of known) fleet.take(device, now);
  if (complete) loadAlerts().catch(() => undefined);
  if (isWhole) completeNow();
}

const hearers: { readonly [K in keyof StreamEvents]: (data: StreamEvents[K]) => void } = {
  location(data) {
    takeLocation(data.deviceId, data.location, data.status);
    tellOf("location", data);
  },
  status(data) {
    takeStatus(data.deviceId, data.status);
    tellOf("status", data);
  },
  alert: takeAlert,
  command: (data) => tellOf("command", data),
  gone({ deviceId }) {
    fleet.remove(deviceId);
    loadDevices().catch(() => undefined);
  },
  live: completeNow,
  reset: beginAnew,
};

function hearEvent<K extends keyof StreamEvents>(name: K, data: string): void {
  const hear: (data: StreamEvents[K]) => void = hearers[name];
  hear(JSON.parse(data || "null"));
}

/** Follows the service until `stop`. */
export function startLive(): { stop(): void } {
  fleet.slideSeconds = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 1;
  loadDevices().catch(() => undefined);
  loadAlerts().catch(() => undefined);
  let drawn = -1;
  let judgedAt = Date.now();
  const timer = setInterval(() => {
    const time = Date.now();
    if (Math.floor(time / 1000) !== Math.floor(now / 1000)) now = time;
    if (open) eventAt = time;
    if (time - judgedAt > judgeMs) {
      judgedAt = time;
      fleet.judgeAll(time);
    }
    if (fleet.version !== drawn) {
      drawn = fleet.version;
      version += 1;
    }
  }, tickMs);
  const hearer = {
    told: hearEvent,
    state(isOpen: boolean) {
      open = isOpen;
      if (isOpen) eventAt = Date.now();
    },
    refused: checkSession,
  };
  const present = () => ({ devices: fleet.known(), complete });
  const unfollow = followTogether<Present>(session()?.userId ?? "", hearer, { present, take: takePresent });
  return {
    stop() {
      unfollow();
      clearInterval(timer);
      clearTimeout(reading);
    },
  };
}
