import { named } from "./change.ts";
import type { Answer, ApiClient } from "./client.ts";
import type { Host } from "./host.ts";
import { listIn, payloadOf, printOne, tellWarnings } from "./print.ts";

/** Makes the API key of a user. The service asks for the caller's own key beside its token. */
export async function makeKey(client: ApiClient, user: { readonly id: string }): Promise<Answer> {
  return payloadOf(await client.call("POST", `${userPath(user)}/apiKey`, { presentSecret: client.secret }));
}

/** The user with this id or e-mail address. */
export async function findUser(client: ApiClient, given: string): Promise<{ readonly id: string } & Answer> {
  return named("user", listIn(await client.call("GET", "/api/users"), "users"), given);
}

/** Path of every call to a user. */
export function userPath({ id }: { readonly id: string }): string {
  return `/api/users/${encodeURIComponent(id)}`;
}

/** Prints an answer that holds a user. */
export async function tellUser(host: Host, answer: Answer, json: boolean | undefined): Promise<void> {
  tellWarnings(host, answer);
  await printOne(host, payloadOf(answer), json);
}
