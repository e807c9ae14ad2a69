import { named } from "./change.ts";
import type { Answer, ApiClient } from "./client.ts";
import type { Host } from "./host.ts";
import { listAll } from "./pages.ts";
import { plain } from "./text.ts";

/** Path of the rules. */
export const rulesPath = "/api/alertRules";

/** The rule that has the given id, or else the given name. */
export async function findRule(client: ApiClient, given: string): Promise<{ readonly id: string } & Answer> {
  return named("rule", await listAll(client, rulesPath, "rules"), given);
}

/** Tells why a rule can't do all that it should. */
export function tellProblems(host: Host, { problems }: Answer): void {
  if (Array.isArray(problems)) for (const each of problems) host.terminal.err(`warning: ${plain(each)}\n`);
}

/** Path of one rule. */
export function rulePath({ id }: { readonly id: string }): string {
  return `${rulesPath}/${encodeURIComponent(id)}`;
}
