import type { components } from "../api/schema.ts";
import { type ConditionRow, conditionRows, conditionsOf } from "./conditions.ts";
import { type HookRow, hookRows, hooksOfRows } from "./hooks.ts";
import { type RecipientRow, recipientRows, recipientsOf } from "./recipients.ts";
import { type ScheduleDraft, scheduleDraft, scheduleOf } from "./schedule.ts";

/** A rule as the service shows it. */
export type Rule = components["schemas"]["AlertRule"];

/** A command that follows an alert, as a form has it. */
export interface CommandRow {
  command: string;
  format: "Text" | "Hex" | "Base64";
  sms: boolean;
  encode: boolean;
  delaySeconds: number;
}

/** What the form changes of a rule; the rest of it is kept as it is. */
export interface Draft {
  name: string;
  type: string;
  enabled: boolean;
  critical: boolean;
  notifyWhenOver: boolean;
  notifyOnlyWhenOver: boolean;
  devices: string[];
  groups: string[];
  parameters: Record<string, unknown>;
  schedule: ScheduleDraft;
  conditions: ConditionRow[];
  commands: CommandRow[];
  holdSeconds: number;
  /** Null: the threshold. */
  rearmAt: number | null;
  cooldownSeconds: number;
  emails: RecipientRow[];
  phones: RecipientRow[];
  hooks: HookRow[];
  text: string;
}

/** A draft of a rule, or of a new one. */
export function draftOf(rule: Rule | undefined, device: string | null): Draft {
  const channels = rule?.channels ?? {};
  return {
    name: rule?.name ?? "",
    type: rule?.type ?? "speedOver",
    enabled: rule?.enabled ?? true,
    critical: rule?.critical ?? false,
    notifyWhenOver: rule?.notifyWhenOver ?? false,
    notifyOnlyWhenOver: rule?.notifyOnlyWhenOver ?? false,
    devices: rule?.devices ?? (device === null ? [] : [device]),
    groups: rule?.groups ?? [],
    parameters: { ...rule?.parameters },
    schedule: scheduleDraft(rule?.schedule),
    conditions: conditionRows(rule?.conditions ?? []),
    commands: (rule?.commands ?? []).map(commandRow),
    holdSeconds: rule?.hysteresis.holdSeconds ?? 0,
    rearmAt: rule?.hysteresis.rearmAt ?? null,
    cooldownSeconds: rule?.hysteresis.cooldownSeconds ?? 0,
    emails: recipientRows(channels.email),
    phones: recipientRows(channels.sms),
    hooks: hookRows(channels),
    text: rule?.text ?? "",
  };
}

/** The body that stores a draft: what the form does not show of the rule stays as it is. */
export function bodyOf(draft: Draft, rule: Rule | undefined, parameters: Record<string, unknown>) {
  const channels = rule?.channels ?? {};
  return {
    ...{ name: draft.name, type: draft.type, parameters, enabled: draft.enabled, critical: draft.critical },
    ...{ devices: draft.devices, groups: draft.groups, notifyWhenOver: draft.notifyWhenOver },
    ...{ notifyOnlyWhenOver: draft.notifyOnlyWhenOver, schedule: scheduleOf(draft.schedule, rule?.schedule) },
    ...{ conditions: conditionsOf(draft.conditions), text: draft.text.trim() || null },
    commands: draft.commands.filter(({ command }) => command !== "").map(commandOf),
    hysteresis: {
      holdSeconds: draft.holdSeconds,
      cooldownSeconds: draft.cooldownSeconds,
      rearmAt: draft.rearmAt,
    },
    channels: {
      email: recipientsOf(draft.emails, channels.email),
      sms: recipientsOf(draft.phones, channels.sms),
      ...hooksOfRows(draft.hooks, channels),
    },
  };
}

function commandRow(stored: Partial<CommandRow> & Pick<CommandRow, "command">): CommandRow {
  return { format: "Text", sms: false, encode: false, delaySeconds: 0, ...stored };
}

/** Only a text that goes over data can be wrapped by the device's protocol. */
function commandOf(row: CommandRow): CommandRow {
  return { ...row, encode: row.encode && !row.sms && row.format === "Text" };
}
