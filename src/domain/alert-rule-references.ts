import { isOutsideWindow, type User } from "../model/account.ts";
import { type AlertRule, type AlertRuleFields, worksWithout, zonesOf } from "../model/alert-rule.ts";
import { mayCommand } from "../model/command.ts";
import type { Device } from "../model/device.ts";
import { protocolIds, protocolReadings } from "../model/protocol-ids.ts";
import { isReading } from "../model/readings.ts";
import type { Clock } from "../ports/clock.ts";
import type { Store } from "../ports/store.ts";
import { createReferences, listed, type References } from "./references.ts";
import type { Visibility } from "./visibility.ts";

/** Devices of a rule whose protocols are looked at: a fleet of more has hardly another one. */
const mostLookedAt = 1000;

/** What rules refer to, and what of it is gone. */
export interface RuleReferences {
  /** For each of an account's rules, in their order, why it can't do all that it should. */
  problems(accountKey: number, rules: readonly AlertRule[]): Promise<readonly (readonly string[])[]>;
  /** Warnings of attributes that no protocol of the rule's devices can give, each with its place below the rule. */
  untold(accountKey: number, fields: AlertRuleFields): Promise<readonly string[]>;
  /** The zones that a rule names and that are gone. */
  lostZones(accountKey: number, fields: AlertRuleFields): Promise<ReadonlySet<string>>;
  /**
   * Problems of a body, each with its place below the rule: zones that do not exist, but for those that the rule named
   * before.
   */
  unknownZones(
    accountKey: number,
    fields: AlertRuleFields,
    kept: AlertRuleFields | undefined,
  ): Promise<readonly string[]>;
}

/** What they need of the service. */
export interface RuleReferencesContext {
  readonly store: Pick<Store, "devices" | "groups" | "geofences" | "users">;
  readonly clock: Clock;
  readonly visibility: Visibility;
}

/** References looked up in the store. */
export function createRuleReferences(context: RuleReferencesContext): RuleReferences {
  return new StoredReferences(context);
}

class StoredReferences implements RuleReferences {
  readonly #context: RuleReferencesContext;
  readonly #references: References;

  constructor(context: RuleReferencesContext) {
    this.#context = context;
    this.#references = createReferences(context.store);
  }

  async problems(accountKey: number, rules: readonly AlertRule[]): Promise<readonly (readonly string[])[]> {
    if (rules.length === 0) return [];
    const [devices, groups, zones, users] = await Promise.all([
      this.#references.registered(accountKey, [...new Set(rules.flatMap((rule) => rule.devices))]),
      this.#context.store.groups.existing(
        accountKey,
        rules.flatMap((rule) => rule.groups),
      ),
      this.#context.store.geofences.existing(accountKey, [...new Set(rules.flatMap(zonesOf))]),
      this.#commanders(rules),
    ]);
    const membersOf = this.#memberLookup(accountKey);
    return Promise.all(
      rules.map(async (rule) => {
        const lostDevices = rule.devices.filter((id) => !devices.has(id));
        const lostGroups = rule.groups.filter((id) => !groups.has(id));
        const lostZones = [...new Set(zonesOf(rule))].filter((id) => !zones.has(id));
        const lost = await this.#lostCommands(rule, users.get(rule.userKey), membersOf);
        return [
          ...(lostDevices.length === 0 ? [] : [`devices: none is registered as ${listed(lostDevices)}`]),
          ...(lostGroups.length === 0 ? [] : [`groups: there is no ${listed(lostGroups)}`]),
          ...(lostZones.length === 0 ? [] : [`zones: there is no ${listed(lostZones)}; ${effectOf(rule, lostZones)}`]),
          ...(lost === undefined ? [] : [`commands: the user who set them ${lost}; they are not sent`]),
        ];
      }),
    );
  }

  async unknownZones(accountKey: number, fields: AlertRuleFields, kept: AlertRuleFields | undefined) {
    const before = new Set(kept === undefined ? [] : zonesOf(kept));
    const asked = zonesOf(fields).filter((id) => !before.has(id));
    return (await this.#missingZones(accountKey, asked)).map(
      (id) => `${placeOf(fields, id)}: there is no geofence ${id}`,
    );
  }

  async untold(accountKey: number, { parameters, conditions, devices, groups }: AlertRuleFields) {
    const asked = [
      ...("attribute" in parameters ? [["/parameters/attribute", parameters.attribute] as const] : []),
      ...conditions.flatMap((condition, at) =>
        "attribute" in condition ? [[`/conditions/${at}/attribute`, condition.attribute] as const] : [],
      ),
    ].filter(([, name]) => isReading(name));
    if (asked.length === 0) return [];
    const members = await this.#context.store.groups.some(accountKey, groups);
    const ids = [...new Set([...devices, ...members.flatMap((group) => group.devices ?? [])])].slice(0, mostLookedAt);
    const spoken = protocolsOf(await this.#context.store.devices.some(accountKey, ids, this.#context.clock.now()));
    return asked
      .filter(([, name]) => !spoken.some((protocol) => protocolReadings[protocol]?.includes(name) ?? true))
      .map(([place, name]) => `${place}: no protocol of its devices gives ${name} (${spoken.join(", ")})`);
  }

  async lostZones(accountKey: number, fields: AlertRuleFields): Promise<ReadonlySet<string>> {
    return new Set(await this.#missingZones(accountKey, zonesOf(fields)));
  }

  async #missingZones(accountKey: number, ids: readonly string[]): Promise<readonly string[]> {
    if (ids.length === 0) return [];
    const known = await this.#context.store.geofences.existing(accountKey, ids);
    return [...new Set(ids)].filter((id) => !known.has(id));
  }

  /** The users in whose names rules send commands, by key. */
  async #commanders(rules: readonly AlertRule[]): Promise<ReadonlyMap<number, User | undefined>> {
    const { users } = this.#context.store;
    const keys = new Set(rules.flatMap(({ commands, userKey }) => (commands.length === 0 ? [] : [userKey])));
    return new Map(await Promise.all([...keys].map(async (key) => [key, await users.findByKey(key)] as const)));
  }

  /** Why the user may not send the rule's commands; undefined: it may, or there are none. */
  async #lostCommands(
    { commands, devices, groups }: AlertRule,
    user: User | undefined,
    membersOf: (id: string) => Promise<readonly string[]>,
  ): Promise<string | undefined> {
    const { clock, visibility } = this.#context;
    if (commands.length === 0) return undefined;
    if (user === undefined) return "was deleted";
    const now = clock.now();
    if (user.disabled || isOutsideWindow(user, now)) return "is disabled or outside its time";
    if (!commands.every(({ sms }) => mayCommand(user, sms ? "sms" : "data"))) return "may not send commands any more";
    const scope = await visibility.scope(user);
    if (scope.all) return undefined;
    const unseen = (ids: readonly string[]) => !ids.every((id) => scope.ids.has(id));
    const lost = "does not see all of its devices any more";
    if (unseen(devices)) return lost;
    for (const id of groups) if (unseen(await membersOf(id))) return lost;
    return undefined;
  }

  /** Devices of the account's groups; each group is read once, however many rules name it. */
  #memberLookup(accountKey: number): (id: string) => Promise<readonly string[]> {
    const read = new Map<string, Promise<readonly string[]>>();
    return (id) => {
      const known = read.get(id) ?? this.#members(accountKey, id);
      read.set(id, known);
      return known;
    };
  }

  async #members(accountKey: number, id: string): Promise<readonly string[]> {
    const [group] = await this.#context.store.groups.some(accountKey, [id]);
    return group?.devices ?? [];
  }
}

/**
 * Protocols that devices speak: those that they reported by, else those that they may, which is any where none is
 * named.
 */
function protocolsOf(devices: readonly Device[]): readonly string[] {
  const all = devices.flatMap(({ spoken, identity }) => {
    if (spoken.length > 0) return spoken.map(({ protocol }) => protocol);
    return identity.protocols.length > 0 ? identity.protocols : protocolIds;
  });
  return all.length === 0 ? protocolIds : [...new Set(all)].sort();
}

/** What becomes of a rule without some of its zones. */
function effectOf(rule: AlertRule, lost: readonly string[]): string {
  return worksWithout(rule, (id) => lost.includes(id)) ? "the rule watches the others" : "the rule can't fire";
}

function placeOf({ parameters, conditions }: AlertRuleFields, zone: string): string {
  const place = "zones" in parameters ? parameters.zones.indexOf(zone) : -1;
  if (place >= 0) return `/parameters/zones/${place}`;
  return `/conditions/${conditions.findIndex((condition) => "zone" in condition && condition.zone === zone)}/zone`;
}
