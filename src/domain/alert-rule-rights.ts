import { ApiError } from "../errors/catalogue.ts";
import { maySendSmsAlerts, type User } from "../model/account.ts";
import type { AlertRule, AlertRuleFields } from "../model/alert-rule.ts";
import { mayCommand } from "../model/command.ts";
import type { NamedByRule, Watched } from "../ports/alert-store.ts";
import { eachOf } from "../ports/pages.ts";
import type { Store } from "../ports/store.ts";
import type { Visibility } from "./visibility.ts";

/** Who may see and set which rules. */
export interface RuleRights {
  /** How many rules name it: of those that the user sees, and of the others. */
  naming(user: User, named: NamedByRule): Promise<{ readonly seen: number; readonly unseen: number }>;
  /** Those that the user sees: with `admin` all of the account, else those of which it sees every device and group. */
  visible(user: User, rules: readonly AlertRule[]): Promise<readonly AlertRule[]>;
  /** @throws ApiError `permissionDenied`, with all that the user may not set of the first rule that has something */
  checkMay(user: User, wishes: readonly WishedRule[]): Promise<void>;
}

/** What a rule is to be, and its place in the body of the request. */
export interface WishedRule {
  readonly fields: AlertRuleFields;
  readonly where: string;
}

/**
 * The warning for a user who is about to delete what rules watch: how many name it, of those that the user sees; none
 * where it is named by none. It is asked before the deletion, which may take the sight of them.
 */
export type WatchWarnings = (user: User, watched: Watched) => Promise<readonly string[]>;

/** The warnings over the rules of the store. */
export function createWatchWarnings(
  store: Pick<Store, "alertRules" | "groups">,
  visibility: Visibility,
): WatchWarnings {
  const rights = createRuleRights(store, visibility);
  return async (user, watched) => {
    const { seen } = await rights.naming(user, { watched: [watched] });
    return seen === 0 ? [] : [`alert rules that name it and can't watch it any more: ${seen}`];
  };
}

/** The rights by what the user sees and holds. */
export function createRuleRights(
  { alertRules, groups }: Pick<Store, "alertRules" | "groups">,
  visibility: Visibility,
): RuleRights {
  async function ownGroups({ accountKey, group }: User): Promise<ReadonlySet<string>> {
    const own = new Set<string>();
    if (group !== null) for await (const { id } of eachOf((ask) => groups.page(accountKey, ask, group))) own.add(id);
    return own;
  }

  /** Whether the user sees all of what a rule watches. */
  async function sight(user: User): Promise<(fields: Pick<AlertRuleFields, "devices" | "groups">) => boolean> {
    const { all, ids } = await visibility.scope(user);
    if (all) return () => true;
    const own = await ownGroups(user);
    return (fields) =>
      fields.devices.length + fields.groups.length > 0 &&
      fields.devices.every((id) => ids.has(id)) &&
      fields.groups.every((id) => own.has(id));
  }

  async function sightOfRules(user: User): Promise<(rule: AlertRule) => boolean> {
    const sees = await sight(user);
    return (rule) => rule.accountKey === user.accountKey && sees(rule);
  }

  return {
    async naming(user, named) {
      const { accountKey } = user;
      // Of rules that all are seen only the number matters.
      if ((await visibility.scope(user)).all) return { seen: await alertRules.count(accountKey, named), unseen: 0 };
      const sees = await sightOfRules(user);
      let [seen, unseen] = [0, 0];
      for await (const rule of eachOf((ask) => alertRules.page(accountKey, ask, named))) {
        if (sees(rule)) seen++;
        else unseen++;
      }
      return { seen, unseen };
    },
    visible: async (user, rules) => rules.filter(await sightOfRules(user)),
    async checkMay(user, wishes) {
      const sees = await sight(user);
      for (const { fields, where } of wishes) {
        const problems = [
          ...(sees(fields) ? [] : [`${where}/devices: only devices and groups that the user sees`]),
          ...privilegesMissing(user, fields, where),
        ];
        if (problems.length > 0) throw new ApiError("permissionDenied", problems);
      }
    },
  };
}

function privilegesMissing(user: User, fields: AlertRuleFields, where: string): readonly string[] {
  const problems: string[] = [];
  if (fields.channels.sms.length > 0 && !maySendSmsAlerts(user))
    problems.push(`${where}/channels/sms: needs the privilege sendSmsAlerts`);
  for (const [sms, channel, privilege] of [
    [false, "data", "sendCommands"],
    [true, "sms", "sendSmsCommands"],
  ] as const)
    if (fields.commands.some((command) => command.sms === sms) && !mayCommand(user, channel))
      problems.push(`${where}/commands: needs the privilege ${privilege}`);
  return problems;
}
