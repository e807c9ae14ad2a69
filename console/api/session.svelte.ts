import { untrack } from "svelte";
import { useSession } from "./client.ts";
import { Problem, problemOfAnswer } from "./problem.ts";
import type { components } from "./schema.ts";

/** A person's session, as `GET /api/session` gives it. */
export type Session = components["schemas"]["SessionAnswer"]["session"];
/** Something that a person may do beyond looking. */
export type Ability = Session["may"][number];

/** What a person signs in with. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly code?: string | undefined;
}

let current = $state.raw<Session>();
/** Requests that wait until the person has signed in again. */
let waiting = $state.raw<readonly PromiseWithResolvers<void>[]>([]);

/** The session; undefined: nobody is signed in. */
export function session(): Session | undefined {
  return current;
}

/** Whether the person may do something, as the service says it. What does it is shown only then. */
export function may(ability: Ability): boolean {
  return current?.may.includes(ability) === true;
}

/** Whether requests wait for the person to sign in again. */
export function mustSignInAgain(): boolean {
  return waiting.length > 0;
}

function signedInAgain(): Promise<void> {
  const waits = Promise.withResolvers<void>();
  waiting = [...waiting, waits];
  return waits.promise;
}

useSession({
  // What an effect asks for is not asked for again because the person has signed in again: a form would lose its input.
  csrf: () => untrack(() => current?.csrf),
  signedInAgain,
  refused: () => void checkSession(),
});

async function ask(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(path, {
    method,
    headers: {
      ...(body && { "content-type": "application/json" }),
      ...(current && method !== "GET" && { "x-csrf": current.csrf }),
    },
    ...(body && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Problem("", 0);
  });
  const answered: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw problemOfAnswer(answered, response);
  return answered;
}

function sessionIn(answered: unknown): Session | undefined {
  return (answered as { readonly session: Session | null }).session ?? undefined;
}

/**
 * Where another person has signed in meanwhile, in another tab perhaps, nothing of what the page holds is for that one.
 */
function take(answered: unknown): void {
  const before = current;
  current = sessionIn(answered);
  if (before && current && before.userId !== current.userId) location.reload();
}

/** Asks whether somebody is signed in already. */
export async function loadSession(): Promise<void> {
  take(await ask("GET", "/api/session"));
}

/**
 * Resolves when the session is good: at once, or when the person has signed in again. Where no answer comes it
 * resolves, too.
 */
export async function checkSession(): Promise<void> {
  const answered = await ask("GET", "/api/session").catch(() => undefined);
  if (answered === undefined) return;
  if (sessionIn(answered) !== undefined) take(answered);
  else await signedInAgain().catch(() => undefined);
}

/** Other tabs of this browser: who signs in here has signed in there. */
const otherTabs = new BroadcastChannel("waybeam.session");
otherTabs.onmessage = async () => {
  if (!mustSignInAgain()) return;
  const answered = await ask("GET", "/api/session").catch(() => undefined);
  if (answered !== undefined && sessionIn(answered) !== undefined) goOn(answered);
};

/** Signs in. Where another person's requests wait, they are given up: they are not this one's. */
export async function signIn(credentials: Credentials): Promise<void> {
  goOn(await ask("POST", "/api/session", credentials));
  otherTabs.postMessage("signed in");
}

function goOn(answered: unknown): void {
  const before = current?.userId;
  take(answered);
  const ended = waiting;
  waiting = [];
  const same = before === undefined || before === current?.userId;
  for (const { resolve, reject } of ended) same ? resolve() : reject(new Problem("", 401));
}

/** Gives up what waits for a new sign-in. */
export function dontSignInAgain(): void {
  const ended = waiting;
  waiting = [];
  for (const { reject } of ended) reject(new Problem("authentication failed, invalid token", 401));
}

/** Sets the owner's first password by the link that the first start printed. */
export async function setFirstPassword(token: string, password: string): Promise<void> {
  take(await ask("POST", "/api/session/first", { token, password }));
}

/** Ends this session and forgets everything that the page holds. */
export async function signOut(): Promise<void> {
  await ask("DELETE", "/api/session").catch((thrown: unknown) => {
    if (!(thrown instanceof Problem) || thrown.status !== 401) throw thrown;
  });
  location.assign("/sign-in");
}
