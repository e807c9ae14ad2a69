import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import { type AnswerLimits, fixedLimits } from "./limits.ts";

type Socket = FastifyRequest["raw"]["socket"];

const megabyte = 1_048_576;
/** What an open history holds, whatever its reader does: two steps of the store's reader. */
export const historyBytes = 1.25 * megabyte;
/** Smaller answers are sent even where too much waits: a refusal would be no smaller. */
const smallAnswer = 16_384;
/** Time between two looks of a stream that waits until others are read, ms. */
const lookMs = 50;
/** Shares of users, and of accounts, beyond which those without a request are forgotten: 100 KB. */
const keptShares = 1000;
const retryAfter = fixedLimits.retrySoonSeconds;

/** What one user or one account has under way. */
interface Share {
  readonly key: number;
  requests: number;
  bytes: number;
}

/** An answer that is being made or read. */
export interface OpenAnswer {
  readonly user: Share;
  readonly account: Share;
  /** Bytes that it holds. */
  bytes: number;
  left: boolean;
  /** Until it has left: an idle connection keeps nothing of its last request. */
  response: ServerResponse | undefined;
}

/**
 * The requests under way, and the bytes of answers that wait to be read: of each user, of each account, and of all
 * together.
 */
export class Answers {
  readonly #limits: AnswerLimits;
  readonly #users = new Map<number, Share>();
  readonly #accounts = new Map<number, Share>();
  /** The last one of each connection, whether it has left or not. */
  readonly #open = new Map<Socket, OpenAnswer>();
  /** Listens to every answer: a function for each would be most of what this costs a request. */
  readonly #ended: (this: ServerResponse) => void;
  #bytes = 0;

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
    const left = (response: ServerResponse) => {
      const answer = this.#open.get(response.req.socket);
      if (answer?.response === response) this.#leave(answer);
    };
    this.#ended = function ended() {
      left(this);
    };
  }

  /** Bytes of all answers that wait to be read. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A request of the user begins; undefined: it may. It ends with its answer or its connection. */
  enter(
    { key, accountKey }: Pick<User, "key" | "accountKey">,
    request: FastifyRequest,
    reply: FastifyReply,
  ): ApiError | undefined {
    const { socket } = request.raw;
    // Its user was asked for meanwhile; a connection that has closed would never end what begins now.
    if (socket.destroyed) return connectionClosed();
    const refusal = this.#refusal(this.#users.get(key), this.#accounts.get(accountKey), 0);
    if (refusal !== undefined) return refusal;
    const response = reply.raw;
    const user = shareOf(this.#users, key);
    const account = shareOf(this.#accounts, accountKey);
    user.requests++;
    account.requests++;
    const answer: OpenAnswer = { user, account, bytes: 0, left: false, response };
    request.openAnswer = answer;
    // The next request of a connection begins when the answer before it has left.
    const before = this.#open.get(socket);
    if (before !== undefined) this.#leave(before);
    else socket.once("close", () => this.#closed(socket));
    this.#open.set(socket, answer);
    response.on("close", this.#ended);
    return undefined;
  }

  /** Fails where nobody is there any more to read the answer: nothing is begun for it. */
  stillOpen(reply: FastifyReply): void {
    if (reply.request.openAnswer?.left === true) throw connectionClosed();
  }

  /** The answer goes on within limits of its own: it is no longer a request under way. */
  detach(reply: FastifyReply): void {
    const answer = reply.request.openAnswer;
    if (answer !== null) this.#leave(answer);
  }

  /** Whether the answer counts its bytes itself. */
  counts(reply: FastifyReply): boolean {
    return (reply.request.openAnswer?.bytes ?? 0) > 0;
  }

  /**
   * Counts bytes that an answer is to hold.
   * @throws ApiError `tooManyRequests`, `unavailable` where they are too many, `badRequest` where the connection was
   * closed
   */
  hold(reply: FastifyReply, bytes: number): void {
    this.stillOpen(reply);
    const answer = reply.request.openAnswer;
    if (answer === null) return;
    const refusal = bytes > smallAnswer ? this.#refusal(answer.user, answer.account, bytes, 1) : undefined;
    if (refusal !== undefined) throw refusal;
    this.#add(answer, bytes);
  }

  /**
   * Counts bytes of an answer that is given whatever waits: what it tells has been done, or a part of it is on its way.
   */
  holdDone(reply: FastifyReply, bytes: number): void {
    const answer = reply.request.openAnswer;
    if (answer !== null && !answer.left) this.#add(answer, bytes);
  }

  /** Bytes of an answer have left. */
  release(reply: FastifyReply, bytes: number): void {
    const answer = reply.request.openAnswer;
    if (answer !== null && !answer.left) this.#add(answer, -bytes);
  }

  /** As `hold`, but waits until there is room. Rejects where the connection is closed before. */
  async room(reply: FastifyReply, bytes: number): Promise<void> {
    const answer = reply.request.openAnswer;
    if (answer === null) return;
    while (!answer.left && this.#refusal(answer.user, answer.account, bytes, 1) !== undefined)
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    this.stillOpen(reply);
    this.#add(answer, bytes);
  }

  /** Why a request may not begin, or not hold `bytes` more. `own`: requests under way that are itself. */
  #refusal(user: Share | undefined, account: Share | undefined, bytes: number, own = 0): ApiError | undefined {
    const { requestsAtOnce, requestsAtOncePerAccount } = this.#limits;
    const { unreadMegabytes, unreadMegabytesPerAccount, unreadMegabytesInAll } = this.#limits;
    if (user === undefined || account === undefined) return undefined;
    if (user.requests - own >= requestsAtOnce)
      return new ApiError("tooManyRequests", [`${requestsAtOnce} requests of the user are under way`], retryAfter);
    if (account.requests - own >= requestsAtOncePerAccount)
      return new ApiError(
        "tooManyRequests",
        [`${requestsAtOncePerAccount} requests of the account are under way`],
        retryAfter,
      );
    if (isFull(user, bytes, unreadMegabytes))
      return new ApiError("tooManyRequests", ["the user's answers before are not read"], retryAfter);
    if (isFull(account, bytes, unreadMegabytesPerAccount))
      return new ApiError("tooManyRequests", ["the account's answers before are not read"], retryAfter);
    if (account.bytes > 0 && this.#bytes + bytes > unreadMegabytesInAll * megabyte)
      return new ApiError("unavailable", [], retryAfter);
    return undefined;
  }

  #closed(socket: Socket): void {
    const answer = this.#open.get(socket);
    if (answer !== undefined) this.#leave(answer);
    this.#open.delete(socket);
  }

  #add(answer: OpenAnswer, bytes: number): void {
    answer.bytes += bytes;
    this.#bytes += bytes;
    answer.user.bytes += bytes;
    answer.account.bytes += bytes;
  }

  #leave(answer: OpenAnswer): void {
    if (answer.left) return;
    this.#add(answer, -answer.bytes);
    answer.left = true;
    answer.response = undefined;
    end(this.#users, answer.user);
    end(this.#accounts, answer.account);
  }
}

function connectionClosed(): ApiError {
  return new ApiError("badRequest", ["the connection was closed"]);
}

/**
 * Whether `bytes` more are too many. A share that holds nothing always has room: an answer may be larger than the
 * limit.
 */
function isFull(share: Share, bytes: number, megabytes: number): boolean {
  return share.bytes > 0 && share.bytes + bytes > megabytes * megabyte;
}

function shareOf(shares: Map<number, Share>, key: number): Share {
  let share = shares.get(key);
  if (share === undefined) {
    share = { key, requests: 0, bytes: 0 };
    shares.set(key, share);
  }
  return share;
}

/**
 * A request has ended. Shares without one are kept while they are few: a map that is emptied and filled for each
 * request is made anew each time.
 */
function end(shares: Map<number, Share>, share: Share): void {
  if (--share.requests === 0 && shares.size > keptShares) shares.delete(share.key);
}
