import type { components } from "../api/schema.ts";

type Rule = Pick<components["schemas"]["AlertRule"], "id" | "name" | "enabled" | "channels">;

/** A program or a chat that rules call, with those that do. */
export interface Hook {
  /** URL of a webhook, or the id of a chat. */
  readonly target: string;
  readonly format: string;
  readonly rules: readonly Pick<Rule, "id" | "name" | "enabled">[];
}

/** The webhooks and chats of rules, each once. */
export function hooksOf(rules: readonly Rule[]): readonly Hook[] {
  const hooks = new Map<string, { target: string; format: string; rules: Hook["rules"][number][] }>();
  for (const { id, name, enabled, channels } of rules) {
    const called = [
      ...(channels.webhook ?? []).map(({ url, format = "waybeam" }) => ({ target: url, format: `${format}` })),
      ...(channels.telegram ?? []).map(({ chat }) => ({ target: chat, format: "telegram" })),
    ];
    for (const { target, format } of called) {
      const hook = hooks.get(`${format} ${target}`) ?? { target, format, rules: [] };
      if (!hook.rules.some((rule) => rule.id === id)) hook.rules.push({ id, name, enabled });
      hooks.set(`${format} ${target}`, hook);
    }
  }
  return [...hooks.values()].toSorted((left, right) => left.target.localeCompare(right.target));
}
