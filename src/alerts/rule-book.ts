import { type PreparedZone, prepareZone } from "../geo/zone.ts";
import { ZoneIndex } from "../geo/zone-index.ts";
import type { AccountWording } from "../model/alert.ts";
import type { AlertRule } from "../model/alert-rule.ts";
import type { Geofence } from "../model/geofence.ts";
import type { Group } from "../model/group.ts";
import type { AlertRuleStore, GeofenceStore } from "../ports/alert-store.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { AccountStore, GroupStore } from "../ports/store.ts";
import { type CompiledRule, compileRule, type NamedZone } from "./compiled-rule.ts";
import { AccountSight } from "./zone-sight.ts";

/** Rules and zones older than this are read again, while they go on being used: events tell of changes at once, but nothing may rest on them alone. */
const mostAgeMs = 60_000;
/** Rules, zones' corners and watched devices that are kept in memory, of all accounts, some 100 bytes each; the accounts used longest ago make room. */
const mostWeight = 5_000_000;
/** Nothing that was used within this time makes room, ms: a batch may be on its way with it. */
const inUseMs = 120_000;
/** Use is noted so often, ms. */
const noteMs = 10_000;
/** An account that changes each time while it is being read is taken as it was read last, and read again for the next batch. */
const mostTries = 3;
/** What an account without any rule weighs. */
const leastWeight = 10;

/** Where rules and what they refer to are read. */
export interface RuleSources {
  readonly alertRules: Pick<AlertRuleStore, "list">;
  readonly geofences: Pick<GeofenceStore, "list">;
  readonly groups: Pick<GroupStore, "list">;
  readonly accounts: Pick<AccountStore, "find">;
}

/** What a rule watches; groups' devices are held once for all rules. */
interface Watched {
  readonly devices: ReadonlySet<string>;
  readonly groups: readonly ReadonlySet<string>[];
}

interface KnownZone extends NamedZone {
  readonly geofence: Geofence;
  readonly prepared: PreparedZone;
}

/** The rules of an account, ready to be asked. */
export class AccountRules {
  readonly wording: AccountWording;
  readonly sight: AccountSight;
  readonly rules: readonly CompiledRule[];
  /** Rules that can't be judged, because a zone that they name is gone. */
  readonly broken: readonly AlertRule[];
  readonly zones: ReadonlyMap<string, KnownZone>;
  readonly weight: number;
  /** All that it was made of, and the devices of the groups that are named. */
  readonly #made: readonly AlertRule[];
  readonly #members: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #watched: ReadonlyMap<CompiledRule, Watched>;
  readonly #byDevice = new Map<string, readonly CompiledRule[]>();
  /** Devices with the same rules share one list. */
  readonly #lists = new Map<string, readonly CompiledRule[]>();

  constructor(
    wording: AccountWording,
    rules: readonly AlertRule[],
    geofences: readonly Geofence[],
    groups: readonly Group[],
    before: AccountRules | undefined,
  ) {
    this.wording = wording;
    const same = before !== undefined && sameZones(before, geofences);
    this.zones = same ? before.zones : knownZones(geofences, before?.zones);
    this.sight = same ? before.sight : sightOf(this.zones);
    const old = new Map(
      same && before.wording.timeZone === wording.timeZone
        ? before.rules.map((compiled) => [compiled.rule.key, compiled])
        : [],
    );
    const members = membersOf(rules, groups);
    const watched = new Map<CompiledRule, Watched>();
    const broken: AlertRule[] = [];
    let weight = leastWeight;
    for (const devices of members.values()) weight += devices.size;
    for (const rule of rules) {
      if (!rule.enabled) continue;
      const known = old.get(rule.key);
      const compiled =
        known?.rule.revision === rule.revision
          ? known
          : compileRule(rule, (id) => this.zones.get(id), wording.timeZone);
      if (compiled === undefined) {
        broken.push(rule);
        continue;
      }
      watched.set(compiled, {
        devices: new Set(rule.devices),
        groups: rule.groups.flatMap((id) => members.get(id) ?? []),
      });
      weight += leastWeight + rule.devices.length + rule.groups.length;
    }
    for (const { geofence } of this.zones.values()) weight += leastWeight + cornersOf(geofence);
    this.rules = [...watched.keys()];
    this.broken = broken;
    this.weight = weight;
    this.#made = rules;
    this.#members = members;
    this.#watched = watched;
  }

  /** Whether these make the same. The lists that devices have now, by which their states are known, then go on being theirs. */
  isMadeOf(
    wording: AccountWording,
    rules: readonly AlertRule[],
    geofences: readonly Geofence[],
    groups: readonly Group[],
  ): boolean {
    if (wording.timeZone !== this.wording.timeZone || wording.language !== this.wording.language) return false;
    if (rules.length !== this.#made.length || !sameZones(this, geofences)) return false;
    if (!rules.every(({ key, revision }, at) => key === this.#made[at]?.key && revision === this.#made[at]?.revision))
      return false;
    const members = membersOf(rules, groups);
    if (members.size !== this.#members.size) return false;
    for (const [id, devices] of members) {
      const known = this.#members.get(id);
      if (known?.size !== devices.size || !devices.isSubsetOf(known)) return false;
    }
    return true;
  }

  /** The rules that watch a device; the same list for the same rules. Empty: none. */
  rulesOf(deviceId: string): readonly CompiledRule[] {
    if (this.rules.length === 0) return this.rules;
    const known = this.#byDevice.get(deviceId);
    if (known !== undefined) return known;
    const list: CompiledRule[] = [];
    for (const [rule, { devices, groups }] of this.#watched)
      if (devices.has(deviceId) || groups.some((group) => group.has(deviceId))) list.push(rule);
    // Of too many alerts at one report the last are left out.
    list.sort((one, other) => Number(other.rule.critical) - Number(one.rule.critical));
    const name = list.map(({ rule }) => rule.key).join();
    const shared = this.#lists.get(name) ?? list;
    this.#lists.set(name, shared);
    this.#byDevice.set(deviceId, shared);
    return shared;
  }
}

/** Devices of the groups that rules name. */
function membersOf(rules: readonly AlertRule[], groups: readonly Group[]): ReadonlyMap<string, ReadonlySet<string>> {
  const named = new Set(rules.flatMap((rule) => rule.groups));
  return new Map(groups.filter(({ id }) => named.has(id)).map((group) => [group.id, new Set(group.devices)]));
}

function sameZones(before: AccountRules, geofences: readonly Geofence[]): boolean {
  if (before.zones.size !== geofences.length) return false;
  return geofences.every(({ id, modification, name }, index) => {
    const zone = before.zones.get(id);
    return zone?.index === index && zone.geofence.modification === modification && zone.name === name;
  });
}

function knownZones(
  geofences: readonly Geofence[],
  before: ReadonlyMap<string, KnownZone> | undefined,
): ReadonlyMap<string, KnownZone> {
  return new Map(
    geofences.map((geofence, index) => {
      const old = before?.get(geofence.id);
      const prepared = old?.geofence.modification === geofence.modification ? old.prepared : prepareZone(geofence.zone);
      return [geofence.id, { geofence, prepared, index, name: geofence.name }];
    }),
  );
}

function sightOf(zones: ReadonlyMap<string, KnownZone>): AccountSight {
  const prepared = [...zones.values()].map((zone) => zone.prepared);
  return new AccountSight(prepared, new ZoneIndex(prepared.map((one) => ({ prepared: one }))));
}

function cornersOf({ zone }: Geofence): number {
  if (zone.kind === "circle") return 1;
  return zone.kind === "route" ? zone.line.length : zone.rings.reduce((sum, ring) => sum + ring.length, 0);
}

interface Entry {
  readonly rules: AccountRules;
  readonly loadedAt: number;
  /** When it was asked for, to some seconds; on the clock that never goes back. */
  usedAt: number;
  stale: boolean;
}

/** Rules of accounts, read when they are first needed, again when they change, and again when they grow old. */
export class RuleBook {
  readonly #sources: RuleSources;
  readonly #clock: Clock;
  readonly #log: Log;
  /** In the order of use. */
  readonly #entries = new Map<number, Entry>();
  readonly #loading = new Map<number, Promise<void>>();
  /** Grows with each change of an account, so that what was under way during one is read again. */
  readonly #changes = new Map<number, number>();
  readonly #mostWeight: number;
  #weight = 0;

  constructor(sources: RuleSources, clock: Clock, log: Log, most = mostWeight) {
    this.#mostWeight = most;
    this.#sources = sources;
    this.#clock = clock;
    this.#log = log;
  }

  /** Undefined: all are there. Rejects while the store is down. */
  prepare(accountKeys: Iterable<number>): Promise<void> | undefined {
    const now = this.#clock.monotonic();
    let missing: Promise<void>[] | undefined;
    for (const key of accountKeys) {
      const entry = this.#entries.get(key);
      if (entry === undefined || entry.stale) {
        missing ??= [];
        missing.push(this.#load(key));
        continue;
      }
      if (now - entry.usedAt > noteMs) this.#use(key, entry, now);
      if (now - entry.loadedAt > mostAgeMs && !this.#loading.has(key))
        this.#load(key).catch((error: unknown) => {
          this.#log.warn({ error, accountKey: key }, "rules could not be read again; those known are used");
        });
    }
    return missing === undefined ? undefined : Promise.all(missing).then(() => undefined);
  }

  #use(key: number, entry: Entry, now: number): void {
    entry.usedAt = now;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  /** Undefined: not prepared. */
  of(accountKey: number): AccountRules | undefined {
    return this.#entries.get(accountKey)?.rules;
  }

  /** Undefined: not prepared, or there may be others by now. */
  sure(accountKey: number): AccountRules | undefined {
    const entry = this.#entries.get(accountKey);
    return entry === undefined || entry.stale ? undefined : entry.rules;
  }

  /** Rules that can't be judged, of the accounts in memory. */
  get broken(): number {
    let count = 0;
    for (const { rules } of this.#entries.values()) count += rules.broken.length;
    return count;
  }

  /** What is known of an account may be wrong: it is read again before it is used again. */
  changed(accountKey: number): void {
    const entry = this.#entries.get(accountKey);
    if (entry !== undefined) entry.stale = true;
    if (this.#loading.has(accountKey)) this.#changes.set(accountKey, (this.#changes.get(accountKey) ?? 0) + 1);
  }

  #load(key: number): Promise<void> {
    const underWay = this.#loading.get(key);
    if (underWay !== undefined) return underWay;
    const loading = this.#read(key).finally(() => {
      this.#loading.delete(key);
      this.#changes.delete(key);
    });
    this.#loading.set(key, loading);
    return loading;
  }

  async #read(key: number): Promise<void> {
    const { alertRules, geofences, groups, accounts } = this.#sources;
    for (let tries = 1; ; tries++) {
      const changes = this.#changes.get(key) ?? 0;
      const [account, rules] = await Promise.all([accounts.find(key), alertRules.list(key)]);
      // Most accounts have no rules; they need no zones then.
      const [zones, members] =
        rules.length === 0 ? [[], []] : await Promise.all([geofences.list(key), groups.list(key)]);
      const changed = changes !== (this.#changes.get(key) ?? 0);
      if (changed && tries < mostTries) continue;
      const wording: AccountWording = { language: account?.language ?? "en", timeZone: account?.timeZone ?? "UTC" };
      const before = this.of(key);
      const same = before?.isMadeOf(wording, rules, zones, members) === true;
      this.#put(key, same ? before : new AccountRules(wording, rules, zones, members, before), changed);
      return;
    }
  }

  #put(key: number, rules: AccountRules, stale: boolean): void {
    this.#weight += rules.weight - (this.#entries.get(key)?.rules.weight ?? 0);
    const now = this.#clock.monotonic();
    this.#entries.delete(key);
    this.#entries.set(key, { rules, loadedAt: now, usedAt: now, stale });
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight <= this.#mostWeight || oldest === key || now - entry.usedAt < inUseMs) break;
      this.#weight -= entry.rules.weight;
      this.#entries.delete(oldest);
    }
  }
}
