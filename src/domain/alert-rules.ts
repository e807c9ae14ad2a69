import {
  AlertRuleBody,
  type AlertRuleView,
  type CopyRequest,
  type DeviceRulesBody,
  settableRuleFields,
} from "../contract/alert-rule.ts";
import type { PatchRequest } from "../contract/patch.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { AlertRule, AlertRuleFields } from "../model/alert-rule.ts";
import type { Mute } from "../model/mute.ts";
import type { AlertRuleCheck, AlertRuleNeeds, TemplateCheck, WebhookCheck } from "../ports/alert-rule-check.ts";
import type { NamedByRule, RuleExchange } from "../ports/alert-store.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import { eachOf, type PageAsk } from "../ports/pages.ts";
import type { Store } from "../ports/store.ts";
import { readRule, ruleView } from "./alert-rule-fields.ts";
import type { RuleReferences } from "./alert-rule-references.ts";
import { createRuleRights, type RuleRights } from "./alert-rule-rights.ts";
import { unknownFields, unknownParts, unknownTerms } from "./bodies.ts";
import { type Cache, createCache, dropWhereMissed } from "./cache.ts";
import { checkRulesOfDevices } from "./device-rule-limit.ts";
import { watchesAlone, wishesOf } from "./device-rules.ts";
import type { Devices } from "./devices.ts";
import { patched } from "./json-patch.ts";
import { firstSeen, type Listed } from "./listed.ts";
import { createChanges } from "./locks.ts";
import { muteView } from "./mute-view.ts";
import type { AskRecipients } from "./rule-recipients.ts";
import type { Visibility } from "./visibility.ts";

/** A rule after a change, and what of the change is probably a mistake. */
export interface ChangedRule {
  readonly rule: AlertRuleView;
  readonly warnings: readonly string[];
}

/**
 * The alert rules of accounts, as their users may see and change them: with `admin` all of the account, else those of
 * which the user sees every device and group. Calls that name a rule fail with `alertRuleNotFound` where it is unknown,
 * of another account, or not visible; those that set one fail with `invalidInput`, naming every problem, and with
 * `permissionDenied` where it would watch, tell or send more than the user may.
 */
export interface AlertRules {
  /** In the order of their making. */
  page(caller: User, ask: PageAsk): Promise<Listed<AlertRuleView>>;
  find(caller: User, id: string): Promise<AlertRuleView>;
  /** @throws ApiError also `alertRuleLimit` */
  create(caller: User, body: AlertRuleBody): Promise<ChangedRule>;
  replace(caller: User, id: string, body: AlertRuleBody): Promise<ChangedRule>;
  /** `check` is the check of a PUT's body; it throws an ApiError. */
  patch(
    caller: User,
    id: string,
    operations: PatchRequest,
    check: (body: unknown) => AlertRuleBody,
  ): Promise<ChangedRule>;
  remove(caller: User, id: string): Promise<void>;
  /** The same rule for other devices. */
  copy(caller: User, id: string, body: CopyRequest): Promise<ChangedRule>;
  /** Those that watch a device, by itself or by a group. */
  pageOfDevice(caller: User, deviceId: string, ask: PageAsk): Promise<Listed<AlertRuleView>>;
  /**
   * Replaces all rules that watch a device and nothing else, all or nothing. Answers those that do so now, in the order
   * of the body.
   */
  replaceOfDevice(
    caller: User,
    deviceId: string,
    body: DeviceRulesBody,
  ): Promise<{ readonly rules: readonly AlertRuleView[]; readonly warnings: readonly string[] }>;
  /** A rule that is there. */
  stored(caller: User, id: string): Promise<AlertRule>;
  /** The rules, of these, that the user sees. */
  seen(caller: User, rules: readonly AlertRule[]): Promise<readonly AlertRule[]>;
  /** What a body makes of a rule, without making one; what the user may set is not looked at. */
  read(caller: User, body: AlertRuleBody, where: string): Promise<AlertRuleFields>;
}

/** What rules need of the service. */
export interface AlertRulesContext {
  readonly store: Pick<Store, "alertRules" | "groups" | "mutes" | "accounts">;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly visibility: Visibility;
  readonly devices: Pick<Devices, "find">;
  readonly references: RuleReferences;
  readonly checkAlertRule: AlertRuleCheck;
  readonly alertRuleNeeds: AlertRuleNeeds;
  readonly checkWebhook: WebhookCheck;
  readonly checkTemplate: TemplateCheck;
  readonly askRecipients: AskRecipients;
}

const writable: ReadonlySet<string> = new Set(settableRuleFields);
/** Fields that a body may hold as they were answered; they can't be set. */
const shownFields: readonly string[] = ["id", "creation", "modification", "mute", "problems"];

/** Age at which a device's groups are read again, should the event of a change be lost. */
const groupsAgeMs = 30_000;
/** Devices whose groups are kept, and the bytes of all of them. */
const keptDevices = 1000;
const keptBytes = 4_194_304;

/** The rules over their store. */
export function createAlertRules(context: AlertRulesContext): AlertRules {
  return new StoredRules(context);
}

class StoredRules implements AlertRules {
  readonly #context: AlertRulesContext;
  readonly #rights: RuleRights;
  /**
   * Groups that a device is in, by account and id: who reads its rules page by page reads the account's groups once.
   */
  readonly #groupsOf: Cache<string, ReadonlySet<string>>;
  // A change is made from what was read before it, so the changes of an account's rules follow each other.
  readonly #alone = createChanges<number>();

  constructor(context: AlertRulesContext) {
    this.#context = context;
    this.#rights = createRuleRights(context.store, context.visibility);
    const { clock, bus, store } = context;
    this.#groupsOf = createCache<string, ReadonlySet<string>>({
      clock,
      load: (key) => {
        const at = key.indexOf(" ");
        return store.groups.holding(Number(key.slice(0, at)), key.slice(at + 1));
      },
      maxAgeMs: groupsAgeMs,
      capacity: keptDevices,
      mostBytes: keptBytes,
    });
    dropWhereMissed(bus, this.#groupsOf);
    bus.subscribe((event) => {
      if (event.type === "groupChanged") this.#groupsOf.dropAll((key) => key.startsWith(`${event.accountKey} `));
    });
  }

  page(caller: User, ask: PageAsk): Promise<Listed<AlertRuleView>> {
    return this.#page(caller, ask);
  }

  async find(caller: User, id: string): Promise<AlertRuleView> {
    return this.#view(await this.stored(caller, id));
  }

  async create(caller: User, body: AlertRuleBody): Promise<ChangedRule> {
    const fields = await this.#checked(caller, body, undefined);
    return this.#alone(caller.accountKey, () => this.#make(caller, fields, warningsOf(body, "body")));
  }

  replace(caller: User, id: string, body: AlertRuleBody): Promise<ChangedRule> {
    return this.#alone(caller.accountKey, async () => this.#replace(caller, await this.stored(caller, id), body));
  }

  patch(
    caller: User,
    id: string,
    operations: PatchRequest,
    check: (body: unknown) => AlertRuleBody,
  ): Promise<ChangedRule> {
    return this.#alone(caller.accountKey, async () => {
      const rule = await this.stored(caller, id);
      const shown = await this.#view(rule);
      return this.#replace(caller, rule, check(patched({ ...shown }, operations, writable)));
    });
  }

  remove(caller: User, id: string): Promise<void> {
    return this.#alone(caller.accountKey, async () => {
      const { key, revision } = await this.stored(caller, id);
      if (!(await this.#context.store.alertRules.remove(key, revision))) throw new ApiError("alertRuleNotFound");
      this.#changed(caller.accountKey);
    });
  }

  copy(caller: User, id: string, body: CopyRequest): Promise<ChangedRule> {
    return this.#alone(caller.accountKey, async () => {
      const fields = {
        ...fieldsOf(await this.stored(caller, id)),
        devices: body.devices ?? [],
        groups: body.groups ?? [],
      };
      if (fields.devices.length + fields.groups.length === 0)
        throw new ApiError("invalidInput", ["body/devices: a rule watches at least one device or group"]);
      await this.#rights.checkMay(caller, [{ fields, where: "body" }]);
      return this.#make(caller, fields, unknownTerms(body, { devices: true, groups: true }));
    });
  }

  async pageOfDevice(caller: User, deviceId: string, ask: PageAsk): Promise<Listed<AlertRuleView>> {
    const { devices } = this.#context;
    const { id } = await devices.find(caller, deviceId);
    const by = (await this.#groupsOf.get(`${caller.accountKey} ${id}`)) ?? new Set();
    return this.#page(caller, ask, { watched: [{ device: id }, ...[...by].map((group) => ({ group }))] });
  }

  replaceOfDevice(caller: User, deviceId: string, body: DeviceRulesBody): ReturnType<AlertRules["replaceOfDevice"]> {
    return this.#alone(caller.accountKey, async () => {
      const { store, devices, clock, ids, askRecipients } = this.#context;
      const { id: device } = await devices.find(caller, deviceId);
      const naming: AlertRule[] = [];
      for await (const rule of eachOf((ask) =>
        store.alertRules.page(caller.accountKey, ask, { watched: [{ device }] }),
      ))
        naming.push(rule);
      const own = naming.filter((rule) => watchesAlone(rule, device));
      const { wishes, problems } = wishesOf(body, device, own);
      const read = await Promise.all(
        wishes.map(async ({ body: wished, kept, where }) => ({
          kept,
          ...(await this.#read(caller, wished, kept, where)),
        })),
      );
      const all = [...problems, ...read.flatMap((one) => one.problems)];
      if (all.length > 0) throw new ApiError("invalidInput", all.slice(0, mostProblems));
      await this.#rights.checkMay(
        caller,
        read.map(({ fields }, index) => ({ fields, where: `body/rules/${index}` })),
      );
      await checkRulesOfDevices(
        store,
        caller.accountKey,
        read.map(({ fields }) => fields),
        own.map(({ key }) => key),
      );
      const made = read.map(({ kept, fields }) => ({ id: kept?.id ?? ids.uuid(), key: kept?.key, fields }));
      const change: RuleExchange = {
        read: { device, rules: naming },
        remove: own.filter(({ key }) => !made.some((one) => one.key === key)).map(({ key }) => key),
        replace: made.flatMap(({ key, fields }) => (key === undefined ? [] : [{ key, fields }])),
        create: made.flatMap(({ id, key, fields }) => (key === undefined ? [{ id, fields }] : [])),
      };
      const now = clock.now();
      const result = await store.alertRules.exchange(caller.accountKey, caller.key, change, now);
      this.#changed(caller.accountKey);
      const rules = made.flatMap(({ id }) => result.find((rule) => rule.id === id) ?? []);
      const needs = await Promise.all(
        read.map(({ fields }, index) => this.#needs(caller, fields, wishes[index]?.where ?? "body")),
      );
      const warnings = [...wishes.flatMap((wish) => warningsOf(wish.body, wish.where)), ...needs.flat()];
      const asked = await askRecipients(
        caller.accountKey,
        made.map(({ fields }) => fields),
      );
      return {
        rules: await this.#views(caller.accountKey, rules),
        warnings: [...unknownTerms(body, { rules: true }), ...warnings, ...asked],
      };
    });
  }

  async stored(caller: User, id: string): Promise<AlertRule> {
    const rule = await this.#context.store.alertRules.find(id);
    const [visible] = rule === undefined ? [] : await this.#rights.visible(caller, [rule]);
    if (visible === undefined) throw new ApiError("alertRuleNotFound");
    return visible;
  }

  seen(caller: User, rules: readonly AlertRule[]): Promise<readonly AlertRule[]> {
    return this.#rights.visible(caller, rules);
  }

  async read(caller: User, body: AlertRuleBody, where: string): Promise<AlertRuleFields> {
    const { fields, problems } = await this.#read(caller, body, undefined, where);
    if (problems.length > 0) throw new ApiError("invalidInput", problems.slice(0, mostProblems));
    return fields;
  }

  async #read(caller: User, body: AlertRuleBody, kept: AlertRule | undefined, where: string) {
    const { references } = this.#context;
    const { fields, problems } = readRule(body, kept, this.#context);
    const all = [...problems, ...(await references.unknownZones(caller.accountKey, fields, kept))];
    return { fields, problems: all.map((problem) => `${where}${problem}`) };
  }

  async #checked(caller: User, body: AlertRuleBody, kept: AlertRule | undefined): Promise<AlertRuleFields> {
    const { fields, problems } = await this.#read(caller, body, kept, "body");
    if (problems.length > 0) throw new ApiError("invalidInput", problems.slice(0, mostProblems));
    await this.#rights.checkMay(caller, [{ fields, where: "body" }]);
    return fields;
  }

  async #make(caller: User, fields: AlertRuleFields, warnings: readonly string[]): Promise<ChangedRule> {
    const { store, ids, clock, askRecipients } = this.#context;
    const { accountKey, key } = caller;
    await checkRulesOfDevices(store, accountKey, [fields]);
    const made = await store.alertRules.create(accountKey, key, ids.uuid(), fields, clock.now());
    this.#changed(accountKey);
    const needs = await this.#needs(caller, fields, "body");
    const asked = await askRecipients(accountKey, [fields]);
    return { rule: await this.#view(made), warnings: [...warnings, ...needs, ...asked] };
  }

  async #replace(caller: User, rule: AlertRule, body: AlertRuleBody): Promise<ChangedRule> {
    const { store, clock, askRecipients } = this.#context;
    const fields = await this.#checked(caller, body, rule);
    await checkRulesOfDevices(store, caller.accountKey, [fields], [rule.key]);
    const replaced = await store.alertRules.replace(rule.key, caller.key, fields, clock.now(), rule.revision);
    if (replaced === undefined) throw new ApiError("alertRuleNotFound");
    this.#changed(caller.accountKey);
    const asked = await askRecipients(caller.accountKey, [fields]);
    return {
      rule: await this.#view(replaced),
      warnings: [...warningsOf(body, "body"), ...(await this.#needs(caller, fields, "body")), ...asked],
    };
  }

  async #page(caller: User, ask: PageAsk, named?: NamedByRule): Promise<Listed<AlertRuleView>> {
    const { alertRules } = this.#context.store;
    const found = await firstSeen(
      ask,
      (part) => alertRules.page(caller.accountKey, part, named),
      (rules) => this.#rights.visible(caller, rules),
    );
    return { ...found, items: await this.#views(caller.accountKey, found.items) };
  }

  async #view(rule: AlertRule): Promise<AlertRuleView> {
    const [view] = await this.#views(rule.accountKey, [rule]);
    return view ?? ruleView(rule, [], null);
  }

  async #views(accountKey: number, rules: readonly AlertRule[]): Promise<readonly AlertRuleView[]> {
    const { references, store, clock } = this.#context;
    const problems = await references.problems(accountKey, rules);
    const muted = new Map<string, Mute>();
    for (const mute of await store.mutes.some(rules.map(({ id }) => ({ rule: id }))))
      if ("rule" in mute.target) muted.set(mute.target.rule, mute);
    return rules.map((rule, index) => ruleView(rule, problems[index] ?? [], muteView(muted.get(rule.id), clock.now())));
  }

  /** What a rule needs in readings, and what of it its devices can't give. */
  async #needs({ accountKey }: User, fields: AlertRuleFields, where: string): Promise<readonly string[]> {
    const { alertRuleNeeds, references } = this.#context;
    const all = [...alertRuleNeeds(fields), ...(await references.untold(accountKey, fields))];
    return all.map((each) => `${where}${each}`);
  }

  #changed(accountKey: number): void {
    this.#context.bus.publish({ type: "rulesChanged", accountKey });
  }
}

/** Problems that one answer names. */
const mostProblems = 20;

function fieldsOf(rule: AlertRule): AlertRuleFields {
  const { key: _key, id: _id, accountKey: _account, revision: _revision, userKey: _user, ...rest } = rule;
  const { creation: _creation, modification: _modification, ...fields } = rest;
  return fields;
}

function warningsOf(body: AlertRuleBody, where: string): readonly string[] {
  const known = Object.fromEntries(Object.entries(body).filter(([name]) => writable.has(name)));
  return [...unknownFields(body, settableRuleFields, shownFields, where), ...unknownParts(known, AlertRuleBody, where)];
}
