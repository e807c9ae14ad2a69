import type { FastifyReply, FastifyRequest } from "fastify";
import { usualPage } from "../contract/page.ts";
import type { HistoryPieces } from "../domain/history.ts";
import type { ListScope } from "../domain/list-cursors.ts";
import type { Listed } from "../domain/listed.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { PageAsk } from "../ports/pages.ts";
import { answerHead, jsonType } from "./envelope.ts";
import { streamed } from "./history-answer.ts";
import type { Services } from "./services.ts";

/** Stored bytes of a page: several MB of JSON at most, which one user can hold several times. */
const pageBytes = 2_097_152;
/** Stored bytes of a piece of a whole list. */
const pieceBytes = 262_144;
/** Entries of a piece of a whole list. */
const pieceRows = 1000;

/** A list that a call answers. */
export interface AnsweredList<T, K extends string | number> {
  /** The field of the answer. */
  readonly name: string;
  /** Whose cursors it takes. */
  readonly scope: ListScope;
  readonly read: (ask: PageAsk<K>) => Promise<Listed<T, K>>;
  /** An entry as JSON text. */
  readonly text: (item: T) => string;
  /** The place that a cursor holds. */
  readonly place: (text: string) => K;
}

/** The query of a list, as its schema lets it pass. */
interface ListQuery {
  readonly limit?: string | undefined;
  readonly cursor?: string | undefined;
}

type Asking = FastifyRequest<{ Querystring: ListQuery }>;

/** The JSON text of an entry of the API. */
export const jsonOf =
  <T>(view: (item: T) => object) =>
  (item: T) =>
    JSON.stringify(view(item));

/** Answers one page of a list. */
export async function pageAnswer<T, K extends string | number>(
  request: FastifyRequest,
  reply: FastifyReply,
  { cursors }: Pick<Services, "cursors">,
  { limit = String(usualPage), cursor }: ListQuery,
  list: AnsweredList<T, K>,
): Promise<string> {
  const { name, scope, read, text, place } = list;
  const found = cursor === undefined ? undefined : cursors.read(scope, cursor);
  if (cursor !== undefined && found === undefined)
    throw new ApiError("badRequest", ["querystring/cursor: must be the nextCursor of an answer with the same list"]);
  const after = found === undefined ? undefined : place(found);
  const { items, next } = await read({ after, limit: Number(limit), bytes: pageBytes });
  const more = next === undefined ? "" : `,"nextCursor":"${cursors.write(scope, String(next))}"`;
  reply.header("content-type", jsonType);
  return `${answerHead(request.caller)},"${name}":[${items.map(text).join(",")}]${more}}`;
}

/** Answers a whole list, piece by piece as its reader takes it; or the page that the query asks for. */
export async function wholeAnswer<T, K extends string | number>(
  request: Asking,
  reply: FastifyReply,
  services: Pick<Services, "answers" | "cursors" | "log">,
  list: AnsweredList<T, K>,
) {
  const { limit, cursor } = request.query;
  if (limit !== undefined || cursor !== undefined) return pageAnswer(request, reply, services, request.query, list);
  const { name, read, text } = list;
  const ask = { limit: pieceRows, bytes: pieceBytes };
  const first = await read(ask);
  const start = `"${name}":[${first.items.map(text).join(",")}`;
  if (first.next === undefined) {
    reply.header("content-type", jsonType);
    return `${answerHead(request.caller)},${start}]}`;
  }
  services.answers.hold(reply, start.length);
  const rest = pieces(services, reply, list, first.next);
  return streamed(request, reply, { start, rest, warnings: [] }, services.log);
}

/** The pieces after the first one, which is held until the answer ends. Each is asked for when the one before has left. */
async function* pieces<T, K extends string | number>(
  { answers }: Pick<Services, "answers">,
  reply: FastifyReply,
  { read, text }: AnsweredList<T, K>,
  begin: K,
): HistoryPieces {
  for (let after: K | undefined = begin; after !== undefined; ) {
    await answers.room(reply, pieceBytes);
    const { items, next }: Listed<T, K> = await read({ after, limit: pieceRows, bytes: pieceBytes });
    const piece = Buffer.from(items.length === 0 ? "" : `,${items.map(text).join(",")}`);
    // One entry may be larger than a piece: a group has up to a megabyte.
    const held = Math.max(piece.length, pieceBytes);
    answers.holdDone(reply, held - pieceBytes);
    if (piece.length > 0) yield piece;
    answers.release(reply, held);
    after = next;
  }
  yield "]";
}
