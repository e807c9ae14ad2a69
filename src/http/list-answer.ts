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
  services: Pick<Services, "answers" | "cursors" | "listTurns">,
  { limit = String(usualPage), cursor }: ListQuery,
  list: AnsweredList<T, K>,
): Promise<string> {
  const { name, scope, place } = list;
  const { cursors } = services;
  const found = cursor === undefined ? undefined : cursors.read(scope, cursor);
  if (cursor !== undefined && found === undefined)
    throw new ApiError("badRequest", ["querystring/cursor: must be the nextCursor of an answer with the same list"]);
  const after = found === undefined ? undefined : place(found);
  const ask = { after, limit: Number(limit), bytes: pageBytes };
  const { text, next } = await firstPiece(request, reply, services, list, ask);
  const more = next === undefined ? "" : `,"nextCursor":"${cursors.write(scope, String(next))}"`;
  reply.header("content-type", jsonType);
  return `${answerHead(request.caller)},"${name}":[${text}]${more}}`;
}

/** Answers a whole list, piece by piece as its reader takes it; or the page that the query asks for. */
export async function wholeAnswer<T, K extends string | number>(
  request: Asking,
  reply: FastifyReply,
  services: Pick<Services, "answers" | "cursors" | "listTurns" | "log">,
  list: AnsweredList<T, K>,
) {
  const { limit, cursor } = request.query;
  if (limit !== undefined || cursor !== undefined) return pageAnswer(request, reply, services, request.query, list);
  const { text, next } = await firstPiece(request, reply, services, list, { limit: pieceRows, bytes: pieceBytes });
  const start = `"${list.name}":[${text}`;
  if (next === undefined) {
    reply.header("content-type", jsonType);
    return `${answerHead(request.caller)},${start}]}`;
  }
  const rest = pieces(request, reply, services, list, next);
  return streamed(request, reply, { start, rest, warnings: [] }, services.log);
}

/** The first piece, which is held until the answer ends. Refused before it is read where too much is held already. */
function firstPiece<T, K extends string | number>(
  request: FastifyRequest,
  reply: FastifyReply,
  { answers, listTurns }: Pick<Services, "answers" | "listTurns">,
  { read, text }: AnsweredList<T, K>,
  ask: PageAsk<K>,
) {
  return listTurns(
    accountOf(request),
    () => {
      answers.hold(reply, pieceBytes);
      return read(ask);
    },
    (items: readonly T[]) => {
      const made = items.map(text).join(",");
      answers.holdDone(reply, made.length - pieceBytes);
      return made;
    },
  );
}

/** The operator, who has no account, counts as one. */
function accountOf({ caller }: FastifyRequest): number {
  return caller?.user.accountKey ?? 0;
}

/** The pieces after the first one. Each is asked for when the one before has left. */
async function* pieces<T, K extends string | number>(
  request: FastifyRequest,
  reply: FastifyReply,
  { answers, listTurns }: Pick<Services, "answers" | "listTurns">,
  { read, text }: AnsweredList<T, K>,
  begin: K,
): HistoryPieces {
  for (let after: K | undefined = begin; after !== undefined; ) {
    await answers.room(reply, pieceBytes);
    const ask = { after, limit: pieceRows, bytes: pieceBytes };
    const made: { readonly text: string; readonly next: K | undefined } = await listTurns(
      accountOf(request),
      () => {
        answers.stillOpen(reply);
        return read(ask);
      },
      (items: readonly T[]) => items.map(text).join(","),
    );
    const piece = Buffer.from(made.text === "" ? "" : `,${made.text}`);
    // One entry may be larger than a piece: a group has up to a megabyte.
    const held = Math.max(piece.length, pieceBytes);
    answers.holdDone(reply, held - pieceBytes);
    if (piece.length > 0) yield piece;
    answers.release(reply, held);
    after = made.next;
  }
  yield "]";
}
