import type { AlertRule } from "../model/alert-rule.ts";
import { QuotaReached, type Store } from "../ports/store.ts";

/** What a rule watches. */
export type Watching = Pick<AlertRule, "devices" | "groups">;

/** Those of the devices in question that groups have, by the groups' ids. */
type Members = ReadonlyMap<string, ReadonlySet<string>>;

/** What the limit needs of the service. */
export type DeviceRuleLimitStore = Pick<Store, "accounts" | "alertRules" | "groups">;

/**
 * Checks how many rules watch one device, by name or through its groups, before rules are stored. `removed`: keys of
 * the rules that these replace. Only growth is refused. The database counts the rules that name one target. Those
 * through groups can't be counted in the step that stores a rule, so each of several changes at the same moment may
 * pass the limit.
 * @throws QuotaReached `rulesOfDevice`
 */
export async function checkRulesOfDevices(
  store: DeviceRuleLimitStore,
  accountKey: number,
  made: readonly Watching[],
  removed: readonly number[] = [],
): Promise<void> {
  const most = await mostRules(store, accountKey, made.length);
  if (most === undefined) return;
  const before = await store.alertRules.list(accountKey);
  const gone = new Set(removed);
  const after = [...before.filter(({ key }) => !gone.has(key)), ...made];
  const groups = await groupsOf(store, accountKey, [...before, ...made]);
  const grown = new Set(made.flatMap((rule) => rule.groups));
  const watched = new Set([
    ...made.flatMap(({ devices }) => devices),
    ...groups.filter(({ id }) => grown.has(id)).flatMap(({ devices }) => devices ?? []),
  ]);
  const members = among(groups, watched);
  refuseGrowth(watched, new Watched(before, members), new Watched(after, members), most);
}

/** The same before the devices of a group are replaced. @throws QuotaReached `rulesOfDevice` */
export async function checkRulesOfMembers(
  store: DeviceRuleLimitStore,
  accountKey: number,
  group: string,
  devices: readonly string[],
): Promise<void> {
  const most = await mostRules(store, accountKey, 0);
  if (most === undefined) return;
  const rules = await store.alertRules.list(accountKey);
  if (!rules.some(({ groups }) => groups.includes(group))) return;
  const groups = await groupsOf(store, accountKey, rules);
  const present = new Set(groups.find(({ id }) => id === group)?.devices);
  const added = new Set(devices).difference(present);
  const before = among(groups, added);
  const after = new Map([...before, [group, added] as const]);
  refuseGrowth(added, new Watched(rules, before), new Watched(rules, after), most);
}

/** How many rules one device may have; undefined: the account has too few rules to pass it. */
async function mostRules(store: DeviceRuleLimitStore, accountKey: number, more: number): Promise<number | undefined> {
  const { limits, use } = await store.accounts.quotas(accountKey);
  return limits === undefined || use.rules + more <= limits.rulesOfDevice ? undefined : limits.rulesOfDevice;
}

type Groups = Awaited<ReturnType<DeviceRuleLimitStore["groups"]["some"]>>;

/** The groups that the rules name. */
function groupsOf(store: DeviceRuleLimitStore, accountKey: number, rules: readonly Watching[]): Promise<Groups> {
  return store.groups.some(accountKey, [...new Set(rules.flatMap((rule) => rule.groups))]);
}

/** Which of these devices the groups have: sets of all their devices would take seconds. */
function among(groups: Groups, devices: ReadonlySet<string>): Members {
  return new Map(groups.map((group) => [group.id, new Set(group.devices?.filter((id) => devices.has(id)))]));
}

function refuseGrowth(devices: ReadonlySet<string>, before: Watched, after: Watched, most: number): void {
  for (const device of devices)
    if (after.mostOf(device) > most) {
      const count = after.rulesOf(device);
      if (count > most && count > before.rulesOf(device)) throw new QuotaReached("rulesOfDevice");
    }
}

/** Rules by what they watch. */
class Watched {
  readonly #members: Members;
  readonly #byDevice: ReadonlyMap<string, readonly Watching[]>;
  readonly #byGroup: ReadonlyMap<string, readonly Watching[]>;

  constructor(rules: readonly Watching[], members: Members) {
    this.#members = members;
    this.#byDevice = byTarget(rules, ({ devices }) => devices);
    this.#byGroup = byTarget(rules, ({ groups }) => groups);
  }

  /** At most so many rules watch the device: one that watches it twice counts twice. */
  mostOf(device: string): number {
    return this.#listsOf(device).reduce((sum, list) => sum + list.length, 0);
  }

  rulesOf(device: string): number {
    return new Set(this.#listsOf(device).flat()).size;
  }

  #listsOf(device: string): readonly (readonly Watching[])[] {
    const lists = [this.#byDevice.get(device) ?? []];
    for (const [group, rules] of this.#byGroup) if (this.#members.get(group)?.has(device)) lists.push(rules);
    return lists;
  }
}

function byTarget(
  rules: readonly Watching[],
  targetsOf: (rule: Watching) => readonly string[],
): ReadonlyMap<string, readonly Watching[]> {
  const found = new Map<string, Watching[]>();
  for (const rule of rules)
    for (const target of new Set(targetsOf(rule))) {
      const list = found.get(target);
      if (list === undefined) found.set(target, [rule]);
      else list.push(rule);
    }
  return found;
}
