import type { AlertRuleBody, DeviceRulesBody } from "../contract/alert-rule.ts";
import type { AlertRule } from "../model/alert-rule.ts";

/** A rule that a device is to have, and the one that it replaces. */
export interface RuleWish {
  readonly body: AlertRuleBody;
  readonly kept: AlertRule | undefined;
  /** Its place in the body of the request. */
  readonly where: string;
}

/** Whether a rule watches this device and nothing else. */
export function watchesAlone({ devices, groups }: Pick<AlertRule, "devices" | "groups">, deviceId: string): boolean {
  return devices.length === 1 && devices[0] === deviceId && groups.length === 0;
}

/**
 * The rules of a replacement of all that watch a device alone (`own`), and what is wrong with which of them it names.
 */
export function wishesOf(
  { rules }: DeviceRulesBody,
  deviceId: string,
  own: readonly AlertRule[],
): { readonly wishes: readonly RuleWish[]; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const named = new Set<string>();
  const wishes = rules.map(({ id, ...rule }, index): RuleWish => {
    const where = `body/rules/${index}`;
    const kept = id === undefined ? undefined : own.find((one) => one.id === id);
    if (id !== undefined && kept === undefined) problems.push(`${where}/id: is no rule that watches this device alone`);
    if (id !== undefined && named.has(id)) problems.push(`${where}/id: stands in another rule already`);
    if (id !== undefined) named.add(id);
    const { devices = [deviceId], groups = [] } = rule;
    if (!watchesAlone({ devices, groups }, deviceId)) problems.push(`${where}/devices: must be this device alone`);
    return { body: { ...rule, devices: [deviceId], groups: [] }, kept, where };
  });
  return { wishes, problems };
}
