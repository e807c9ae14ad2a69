import type { components } from "../api/schema.ts";
import { type HookRow, hookRows, hooksOfRows } from "./hooks.ts";
import { type ScheduleDraft, scheduleDraft, scheduleOf } from "./schedule.ts";

/** A rule as the service shows it. */
export type Rule = components["schemas"]["AlertRule"];

/** What the form changes of a rule; the rest of it is kept as it is. */
export interface Draft {
  name: string;
  type: string;
  enabled: boolean;
  critical: boolean;
  notifyWhenOver: boolean;
  devices: string[];
  groups: string[];
  parameters: Record<string, unknown>;
  schedule: ScheduleDraft;
  holdSeconds: number;
  cooldownSeconds: number;
  /** One address a line. */
  emails: string;
  phones: string;
  hooks: HookRow[];
  text: string;
}

/** A draft of a rule, or of a new one. */
export function draftOf(rule: Rule | undefined, device: string | null): Draft {
  const channels = rule?.channels ?? {};
  const { email = [], sms = [] } = channels;
  return {
    name: rule?.name ?? "",
    type: rule?.type ?? "speedOver",
    enabled: rule?.enabled ?? true,
    critical: rule?.critical ?? false,
    notifyWhenOver: rule?.notifyWhenOver ?? false,
    devices: rule?.devices ?? (device === null ? [] : [device]),
    groups: rule?.groups ?? [],
    parameters: { ...rule?.parameters },
    schedule: scheduleDraft(rule?.schedule),
    holdSeconds: rule?.hysteresis.holdSeconds ?? 0,
    cooldownSeconds: rule?.hysteresis.cooldownSeconds ?? 0,
    emails: email.map(({ to }) => to).join("\n"),
    phones: sms.map(({ to }) => to).join("\n"),
    hooks: hookRows(channels),
    text: rule?.text ?? "",
  };
}

/** The body that stores a draft: what the form does not show of the rule stays as it is. */
export function bodyOf(draft: Draft, rule: Rule | undefined, parameters: Record<string, unknown>) {
  const channels = rule?.channels ?? {};
  const { email = [], sms = [] } = channels;
  return {
    ...{ name: draft.name, type: draft.type, parameters, enabled: draft.enabled, critical: draft.critical },
    ...{ devices: draft.devices, groups: draft.groups, notifyWhenOver: draft.notifyWhenOver },
    ...{ notifyOnlyWhenOver: rule?.notifyOnlyWhenOver ?? false, schedule: scheduleOf(draft.schedule, rule?.schedule) },
    ...{ conditions: rule?.conditions ?? [], commands: rule?.commands ?? [], text: draft.text.trim() || null },
    hysteresis: {
      holdSeconds: draft.holdSeconds,
      cooldownSeconds: draft.cooldownSeconds,
      ...(rule?.type === draft.type && { rearmAt: rule.hysteresis.rearmAt ?? null }),
    },
    channels: {
      email: linesOf(draft.emails).map((to) => email.find((each) => each.to === to) ?? { to }),
      sms: linesOf(draft.phones).map((to) => sms.find((each) => each.to === to) ?? { to }),
      ...hooksOfRows(draft.hooks, channels),
    },
  };
}

function linesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
