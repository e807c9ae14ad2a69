import assert from "node:assert/strict";
import { createPasswords } from "../../src/auth/passwords.ts";
import { systemIds } from "../../src/observe/index.ts";
import type { Answer, Rest } from "./rest.ts";

const accounts = { findSetting: async () => undefined, setting: async (_name: string, make: () => string) => make() };
const passwords = createPasswords({ accounts, ids: systemIds, requireEncrypted: false });

/** The form in which a password is kept. */
export function passwordHash(password: string): Promise<string> {
  return passwords.hash(password, 0);
}

/** What a browser that signed in sends with its requests. */
export interface PersonHeaders extends Readonly<Record<string, string>> {
  readonly cookie: string;
  readonly "x-csrf": string;
}

/** The cookies that an answer sets, by name. */
export function cookiesOf({ headers }: Pick<Answer, "headers">): ReadonlyMap<string, string> {
  const set = [headers["set-cookie"] ?? []].flat();
  return new Map(
    set.map((each) => String(each).split(";")[0]?.split("=") ?? []).map(([name = "", value = ""]) => [name, value]),
  );
}

/** What a browser sends after this answer to a sign-in. */
export function personOf(answer: Answer): PersonHeaders {
  assert.equal(answer.status, 200, answer.body);
  const cookie = [...cookiesOf(answer)].map(([name, value]) => `${name}=${value}`).join("; ");
  return { cookie, "x-csrf": answer.json.session.csrf };
}

/** Signs in; fails where that is refused. */
export async function signIn(rest: Rest, email: string, password: string, from = "127.0.0.1"): Promise<PersonHeaders> {
  return personOf(await rest.call("POST", "/api/session", { body: { email, password }, from }));
}
