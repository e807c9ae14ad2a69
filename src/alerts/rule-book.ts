import { type PreparedZone, prepareZone } from "../geo/zone.ts";
import { ZoneIndex } from "../geo/zone-index.ts";
import type { AccountWording } from "../model/alert.ts";
import { type AlertRule, zonesOf } from "../model/alert-rule.ts";
import { type Geofence, positionsOf } from "../model/geofence.ts";
import type { Group } from "../model/group.ts";
import type { AlertRuleStore, GeofenceStore } from "../ports/alert-store.ts";
import type { Clock } from "../ports/clock.ts";
import type { GroupStore } from "../ports/groups.ts";
import type { Log } from "../ports/log.ts";
import type { AccountStore } from "../ports/store.ts";
import { weightOf } from "../shares/weight.ts";
import { type CompiledRule, compileRule, type NamedZone } from "./compiled-rule.ts";
import { AccountSight } from "./zone-sight.ts";

/**
 * Rules and zones older than this are read again, while they go on being used: events tell of changes at once, but
 * nothing may rest on them alone.
 */
const mostAgeMs = 60_000;
/**
 * Bytes of what is kept of all accounts (estimates): a quarter of what the process may take. The accounts used longest
 * ago make room.
 */
const mostBytes = 268_435_456;
/**
 * Nothing that was used within this time makes room, ms: a batch may be on its way with it, and what it finds missing
 * would never be judged.
 */
const inUseMs = 60_000;
/** Time between two notes of an account's use, ms. */
const noteMs = 10_000;
/**
 * An account that changes each time while it is being read is taken as it was read last, and read again for the next
 * batch.
 */
const mostTries = 3;
/** What an account without any rule takes, bytes. */
const leastBytes = 1000;
/** A rule that is compiled, beside its fields. */
const compiledBytes = 1500;
/** A list of rules, or a device's place in the table of them; and a rule's place in a list. */
const listBytes = 100;
const referenceBytes = 8;
/** A corner of a zone, with its place in what finds zones quickly. */
const cornerBytes = 150;

/** Where rules and what they refer to are read. */
export interface RuleSources {
  readonly alertRules: Pick<AlertRuleStore, "list">;
  readonly geofences: Pick<GeofenceStore, "some">;
  readonly groups: Pick<GroupStore, "some">;
  readonly accounts: Pick<AccountStore, "find">;
}

/** What a rule watches; groups' devices are held once for all rules. */
interface Watched {
  readonly devices: ReadonlySet<string>;
  readonly groups: readonly ReadonlySet<string>[];
}

interface KnownZone extends NamedZone {
  readonly description: string | null;
  readonly modification: number;
  readonly corners: number;
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
  /** What it takes in memory before any device's rules were asked for. */
  readonly #ownBytes: number;
  /** What the lists of devices' rules take. */
  #listBytes = 0;
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
    let bytes = leastBytes;
    for (const devices of members.values()) bytes += weightOf(devices);
    for (const rule of rules) {
      bytes += weightOf(rule);
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
      bytes += compiledBytes + weightOf(rule.devices);
      watched.set(compiled, {
        devices: new Set(rule.devices),
        groups: rule.groups.flatMap((id) => members.get(id) ?? []),
      });
    }
    for (const { name, description, corners } of this.zones.values())
      bytes += leastBytes + name.length + (description?.length ?? 0) + corners * cornerBytes;
    this.rules = [...watched.keys()];
    this.broken = broken;
    this.#ownBytes = bytes;
    this.#made = rules;
    this.#members = members;
    this.#watched = watched;
  }

  /** What it takes in memory, by and large. It grows with the devices that were asked for. */
  get bytes(): number {
    return this.#ownBytes + this.#listBytes;
  }

  /**
   * Whether these make the same. The lists that devices have now, by which their states are known, then go on being
   * theirs.
   */
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
    let shared = this.#lists.get(name);
    if (shared === undefined) {
      shared = list;
      this.#lists.set(name, list);
      this.#listBytes += listBytes + name.length + list.length * referenceBytes;
    }
    this.#byDevice.set(deviceId, shared);
    this.#listBytes += listBytes + deviceId.length;
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
    return zone?.index === index && zone.modification === modification && zone.name === name;
  });
}

function knownZones(
  geofences: readonly Geofence[],
  before: ReadonlyMap<string, KnownZone> | undefined,
): ReadonlyMap<string, KnownZone> {
  return new Map(
    geofences.map((geofence, index) => {
      const old = before?.get(geofence.id);
      const { id, name, description, modification } = geofence;
      // The zone of one that is as before is not read out of its text again.
      const ready =
        old?.modification === modification
          ? old
          : { prepared: prepareZone(geofence.zone), corners: positionsOf(geofence.zone) };
      return [id, { name, description, modification, index, prepared: ready.prepared, corners: ready.corners }];
    }),
  );
}

function sightOf(zones: ReadonlyMap<string, KnownZone>): AccountSight {
  const prepared = [...zones.values()].map((zone) => zone.prepared);
  return new AccountSight(prepared, new ZoneIndex(prepared.map((one) => ({ prepared: one }))));
}

interface Entry {
  readonly rules: AccountRules;
  readonly loadedAt: number;
  /** Bytes that are counted of it. */
  bytes: number;
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
  readonly #mostBytes: number;
  #bytes = 0;
  #toldFullAt = Number.NEGATIVE_INFINITY;

  constructor(sources: RuleSources, clock: Clock, log: Log, most = mostBytes) {
    this.#mostBytes = most;
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
    this.#weigh(entry);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  /** Counts what it has grown by. */
  #weigh(entry: Entry): void {
    const { bytes } = entry.rules;
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
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

  /** Bytes that rules, groups and zones of the accounts in memory take, by and large. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What is known of an account may be wrong: it is read again before it is used again. */
  changed(accountKey: number): void {
    const entry = this.#entries.get(accountKey);
    if (entry !== undefined) entry.stale = true;
    if (this.#loading.has(accountKey)) this.#changes.set(accountKey, (this.#changes.get(accountKey) ?? 0) + 1);
  }

  /** The same of all accounts. */
  changedAll(): void {
    for (const key of new Set([...this.#entries.keys(), ...this.#loading.keys()])) this.changed(key);
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
      const [zones, members] = await Promise.all([
        geofences.some(key, [...new Set(rules.flatMap(zonesOf))]),
        groups.some(key, [...new Set(rules.flatMap((rule) => rule.groups))]),
      ]);
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
    const now = this.#clock.monotonic();
    const made = { rules, loadedAt: now, usedAt: now, stale, bytes: 0 };
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
    this.#entries.set(key, made);
    this.#weigh(made);
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#mostBytes || oldest === key || now - entry.usedAt < inUseMs) break;
      this.#bytes -= entry.bytes;
      this.#entries.delete(oldest);
    }
    if (this.#bytes > this.#mostBytes && now - this.#toldFullAt > mostAgeMs) {
      this.#toldFullAt = now;
      this.#log.warn(
        { bytes: this.#bytes, most: this.#mostBytes },
        "alert rules in use take more memory than they should; quotas of accounts (geofences, rules, bytes) bound them",
      );
    }
  }
}
