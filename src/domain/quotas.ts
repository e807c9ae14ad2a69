import type { AccountReplacement, QuotasView } from "../contract/admin.ts";
import { type Quotas, quotaNames } from "../model/quotas.ts";
import type { AccountQuotas } from "../ports/store.ts";

/** Where no setting says how much: what no account has. */
const unlimited = Number.MAX_SAFE_INTEGER;

/** Quotas as the API shows them. */
export function quotasView({ limits, own, use }: AccountQuotas): QuotasView {
  const limit = (name: keyof QuotasView) => limits?.[name] ?? own[name] ?? unlimited;
  const counted = (name: keyof typeof use) => ({ limit: limit(name), used: use[name] });
  return {
    users: counted("users"),
    groups: counted("groups"),
    geofences: counted("geofences"),
    rules: counted("rules"),
    rulesOfDevice: { limit: limit("rulesOfDevice") },
    webhooks: counted("webhooks"),
    bytes: counted("bytes"),
  };
}

/** What a body says of an account alone. */
export function setQuotas(given: NonNullable<AccountReplacement["quotas"]>): Partial<Quotas> {
  return Object.fromEntries(
    quotaNames.flatMap((name) => (typeof given[name] === "number" ? [[name, given[name]]] : [])),
  );
}

/** What is said of an account alone, as a body says it. */
export function givenQuotas(own: Partial<Quotas>): { readonly [name: string]: number | null } {
  return Object.fromEntries(quotaNames.map((name) => [name, own[name] ?? null]));
}
