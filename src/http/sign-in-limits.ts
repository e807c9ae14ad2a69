import type { FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../errors/catalogue.ts";
import { RateLimit, type Shared } from "../shares/rate-limit.ts";
import { requesterOf } from "./address.ts";
import { fixedLimits, type SessionLimits } from "./limits.ts";
import { countRequest } from "./token-limits.ts";

const hourMs = 3_600_000;
/** Wrong tries for an e-mail address from one place in a quarter of an hour. */
const nearTries = 10;
const nearMs = 900_000;
/**
 * E-mail addresses and places whose tries are counted: some 10 MB. So many that nobody can have others forgotten soon,
 * since each try takes its turn at the hash.
 */
const countedTries = 100_000;

/** A sign-in that is counted as wrong until it is known to be right. */
export interface CountedTry {
  right(): void;
}

/**
 * What bounds the guessing of passwords, before one is looked at: from each address all sign-ins of a minute; for an
 * e-mail address the wrong ones from each address, or from browsers that have its mark, and those from all other places
 * together. A browser with the mark is not kept out by strangers (docs/decisions/0036-sessions.md).
 */
export class SignInLimits {
  readonly #perAddress: RateLimit;
  readonly #near: RateLimit;
  readonly #far: RateLimit;
  readonly #codes: RateLimit;

  /** The processes of the service count together: who guesses asks each of them. */
  constructor(
    { triesPerMinute, wrongPerHour }: Pick<SessionLimits, "triesPerMinute" | "wrongPerHour">,
    among: Pick<Shared, "bus" | "clock">,
  ) {
    const limit = (name: string, most: number, counted: number, ms?: number) =>
      new RateLimit(name, most, counted, ms, { ...among, as: `signIn ${name}` });
    this.#perAddress = limit("address", triesPerMinute, fixedLimits.countedNames);
    this.#near = limit("try", nearTries, countedTries, nearMs);
    this.#far = limit("email", wrongPerHour, countedTries, hourMs);
    this.#codes = limit("code", nearTries, countedTries, nearMs);
  }

  /** Counts a request to its address. @throws ApiError `tooManyRequests` */
  countAddress(request: FastifyRequest, reply: FastifyReply): void {
    countRequest(this.#perAddress, requesterOf(request), request, reply);
  }

  /**
   * Counts a code to its user, whose password it came with or who is signed in, apart for each kind of place. @throws
   * ApiError `tooManyRequests`
   */
  countCode(userKey: number, place: "marked" | "unmarked" | "session", request: FastifyRequest): CountedTry {
    const key = `${place} ${userKey}`;
    const { allowed, resetSeconds } = this.#codes.take(key, request.startedAt);
    if (!allowed) throw new ApiError("tooManyRequests", ["body/code: was wrong too often"], resetSeconds);
    return { right: () => this.#codes.giveBack(key) };
  }

  /**
   * Counts a try to the e-mail address in it. `marked`: the browser has its mark. @throws ApiError `tooManyRequests`
   */
  countTry(email: string, marked: boolean, request: FastifyRequest): CountedTry {
    const name = email.toLowerCase();
    const place = `${marked ? "marked" : requesterOf(request)} ${name}`;
    const counted: (() => void)[] = [];
    const count = (limit: RateLimit, key: string) => {
      const { allowed, resetSeconds } = limit.take(key, request.startedAt);
      if (!allowed)
        throw new ApiError("tooManyRequests", ["body: was wrong too often for this e-mail address"], resetSeconds);
      counted.push(() => limit.giveBack(key));
    };
    count(this.#near, place);
    if (!marked) count(this.#far, name);
    return {
      right() {
        for (const giveBack of counted) giveBack();
      },
    };
  }
}
