import type { FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../errors/catalogue.ts";

/**
 * Bytes from which an answer is large: reading the record, checking it and making its text take some milliseconds, in
 * which nothing else is done.
 */
const largeBytes = 65_536;
/**
 * Pause after a large answer for each byte of it, ms: what a change of a group of a megabyte takes. And the longest.
 */
const msOfByte = 50 / 1_048_576;
const longestPauseMs = 50;

/** A call that has its turn, or waits for it. */
interface Turn {
  readonly account: number;
  /** Undefined: it has its turn. */
  begin: (() => void) | undefined;
  over: boolean;
}

/**
 * Calls of one record, each account's one at a time, with a pause after a large answer. A record may have a megabyte,
 * which only shows when it was read: twenty who asked for such groups kept all others waiting for a second.
 */
export class RecordTurns {
  /** What waits, by account; an account without a lane has nothing under way. */
  readonly #lanes = new Map<number, Turn[]>();
  readonly #turns = new WeakMap<FastifyRequest, Turn>();

  /**
   * Undefined: it may begin now. Else it resolves when its turn has come, and rejects where nobody waits for the answer
   * any more.
   */
  take(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const user = request.caller?.user ?? request.held?.user;
    const turn: Turn = { account: user?.accountKey ?? 0, begin: undefined, over: false };
    this.#turns.set(request, turn);
    reply.raw.once("close", () => this.end(request, 0));
    const lane = this.#lanes.get(turn.account);
    if (lane === undefined) {
      this.#lanes.set(turn.account, []);
      return undefined;
    }
    lane.push(turn);
    return new Promise((resolve, reject) => {
      turn.begin = () => {
        turn.begin = undefined;
        if (turn.over) reject(new ApiError("badRequest", ["the connection was closed"]));
        else resolve();
      };
    });
  }

  /** Its answer is made, or nobody waits for it any more. */
  end(request: FastifyRequest, bytes: number): void {
    const turn = this.#turns.get(request);
    if (turn === undefined || turn.over) return;
    turn.over = true;
    if (turn.begin !== undefined) return;
    const { account } = turn;
    if (bytes < largeBytes) this.#next(account);
    else setTimeout(() => this.#next(account), Math.min(longestPauseMs, bytes * msOfByte));
  }

  #next(account: number): void {
    const lane = this.#lanes.get(account);
    for (let turn = lane?.shift(); turn !== undefined; turn = lane?.shift()) {
      turn.begin?.();
      if (!turn.over) return;
    }
    this.#lanes.delete(account);
  }
}
