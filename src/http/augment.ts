import type { Permission } from "../auth/permission.ts";
import type { HeldShare } from "../domain/shared-places.ts";
import type { ErrorName } from "../errors/catalogue.ts";
import type { OpenAnswer } from "./answers.ts";
import type { Caller } from "./caller.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The user that the token names; null while the gate has let nobody in. */
    caller: Caller | null;
    /** The link whose token it brings; null: the gate let it in by none. */
    held: HeldShare | null;
    /** What its answer holds; null: it was not let in, or nobody known asks. */
    openAnswer: OpenAnswer | null;
    /** When the request reached us, monotonic ms. */
    startedAt: number;
  }
  interface FastifyReply {
    /** Sends the pieces of a JSON text, which are not changed afterwards, one after the other and without a copy. */
    sendJoined(head: string, text: Uint8Array, end: string): void;
  }
  interface FastifyContextConfig {
    /** What the route asks of its caller. Every route declares it. */
    permission?: Permission;
    /** It reads or sets one record, which may be large. */
    record?: boolean;
    /** The failure that a bad body or parameter is, where it is not `badRequest`. */
    invalid?: ErrorName;
  }
}
