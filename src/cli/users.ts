import { named } from "./change.ts";
import type { Answer, ApiClient } from "./client.ts";
import type { Host } from "./host.ts";
import type { NewKey, ShownKey } from "./new-key.ts";
import { listIn, payloadOf, printOne, tellWarnings } from "./print.ts";

/**
 * Makes the API key of a user, and keeps it or says that it is to be shown. The service asks for the caller's own key
 * beside its token.
 */
export async function makeKey(
  client: ApiClient,
  user: { readonly id: string; readonly email?: unknown },
  keep: (key: NewKey) => Promise<ShownKey>,
): Promise<Answer> {
  const answer = await client.call("POST", `${userPath(user)}/apiKey`, { presentSecret: client.secret });
  const { apiKey, ...rest } = payloadOf(answer);
  return { ...rest, ...(await keep({ url: client.url, userName: user.email, apiKey })) };
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
