import { named } from "./change.ts";
import type { Answer, ApiClient } from "./client.ts";
import { listAll } from "./pages.ts";

/** Path of the rules. */
export const rulesPath = "/api/alertRules";

/** The rule that has the given id, or else the given name. */
export async function findRule(client: ApiClient, given: string): Promise<{ readonly id: string } & Answer> {
  return named("rule", await listAll(client, rulesPath, "rules"), given);
}

/** Path of one rule. */
export function rulePath({ id }: { readonly id: string }): string {
  return `${rulesPath}/${encodeURIComponent(id)}`;
}
