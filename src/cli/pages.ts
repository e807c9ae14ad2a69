import type { Answer, ApiClient } from "./client.ts";
import { listIn } from "./print.ts";

/** All entries of a list that comes in pages; `path` has no query. */
export async function listAll(client: Pick<ApiClient, "call">, path: string, name: string): Promise<readonly Answer[]> {
  const all: Answer[] = [];
  for (let query = ""; ; ) {
    const answer = await client.call("GET", path + query);
    for (const entry of listIn(answer, name)) all.push(entry);
    if (typeof answer.nextCursor !== "string") return all;
    query = `?cursor=${encodeURIComponent(answer.nextCursor)}`;
  }
}
