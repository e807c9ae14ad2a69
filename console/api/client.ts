import createClient from "openapi-fetch";
import { Problem, problemOfAnswer } from "./problem.ts";
import type { paths } from "./schema.ts";

/** What the client needs of the session: it has the token of writing requests, and asks the person to sign in again. */
export interface SessionOfClient {
  csrf(): string | undefined;
  /** Resolves when the person has signed in again; rejects where they would not. */
  signedInAgain(): Promise<void>;
  /** The service refuses something that was shown: what the person may do has changed. */
  refused(): void;
}

let session: SessionOfClient = {
  csrf: () => undefined,
  signedInAgain: () => Promise.reject(new Problem("authentication failed, invalid token", 401)),
  refused: () => undefined,
};

/** Says who has the session. */
export function useSession(of: SessionOfClient): void {
  session = of;
}

/**
 * Sends a request with the session; where the session has ended, once more after the person has signed in again: a form
 * loses nothing.
 */
export async function send(request: Request): Promise<Response> {
  const again = request.clone();
  const response = await fetch(withToken(request));
  if (response.status === 403) session.refused();
  if (response.status !== 401) return response;
  await session.signedInAgain();
  return await fetch(withToken(again));
}

function withToken(request: Request): Request {
  const csrf = session.csrf();
  if (csrf !== undefined && request.method !== "GET") request.headers.set("x-csrf", csrf);
  return request;
}

/** The API, typed by its OpenAPI document. */
export const api = createClient<paths>({ baseUrl: location.origin, fetch: send });

/** The data of an answer; a failure is thrown as a Problem. */
export async function answer<T>(
  asked: Promise<{ readonly data?: T; readonly error?: unknown; readonly response: Response }>,
): Promise<T> {
  const { data, error, response } = await asked.catch((thrown: unknown) => {
    throw thrown instanceof Problem ? thrown : new Problem("", 0);
  });
  if (!response.ok || data === undefined) throw problemOfAnswer(error, response);
  return data;
}

/** All pages of a list. `most`: where a list ends for a person; nobody reads on. */
export async function allPages<T, P extends { readonly nextCursor?: string | undefined }>(
  page: (cursor: string | undefined) => Promise<P>,
  itemsOf: (page: P) => readonly T[],
  most = Number.POSITIVE_INFINITY,
): Promise<readonly T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const next = await page(cursor);
    items.push(...itemsOf(next));
    cursor = next.nextCursor;
  } while (cursor !== undefined && items.length < most);
  return items;
}
