import type { OutgoingHttpHeader } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Answers } from "../answers.ts";
import type { Measure } from "./routes.ts";

/**
 * Gives replies `sendJoined`: an answer whose text is kept by the service, with this request's envelope before it.
 * Joined in one buffer the text would be copied for each request; so its pieces go to the socket as they are, in one
 * write, past Fastify, which sends one piece only.
 */
export function sendJoinedPieces(app: FastifyInstance, measure: Measure, answers?: Answers): void {
  app.decorateReply("sendJoined", function sendJoined(this: FastifyReply, head: string, text: Uint8Array, end: string) {
    // It was answered with 408 meanwhile.
    if (this.sent) return;
    const { raw, request } = this;
    const length = Buffer.byteLength(head) + text.length + Buffer.byteLength(end);
    answers?.hold(this, length);
    this.header("content-length", length);
    const headers: Readonly<Record<string, OutgoingHttpHeader | undefined>> = this.getHeaders();
    raw.writeHead(raw.statusCode, headers);
    this.hijack();
    measure(request.method, request.routeOptions.url ?? "unknown", raw.statusCode, request.startedAt);
    raw.write(head);
    raw.write(text);
    raw.end(end);
  });
}
