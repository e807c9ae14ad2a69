import type { Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "../../errors/catalogue.ts";
import { failureText, jsonType } from "../envelope.ts";
import type { LastAnswer } from "./connections.ts";
import { alwaysHeaders, secretHeaders } from "./headers.ts";

/** Time in which a client reads why it was refused, ms. */
const lingerMs = 2000;

/**
 * What Node's parser refuses never becomes a request; it too is answered in the envelope, with a listed code, and after
 * the answers to the requests before it. A client that has ended its side gets its answers, too.
 */
export function answerConnectionErrors(server: Server, lastAnswer: LastAnswer): void {
  const refused = new WeakSet<Duplex>();
  // Node's own name for it; its types do not know it.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.removeAllListeners("clientError");
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const failure = new ApiError(error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? "requestTimeout" : "badRequest");
    // What speaks no TLS that we speak gets no answer either.
    if (error.code === "ECONNRESET" || /^ERR_(SSL|TLS)_/.test(error.code ?? "")) socket.destroy();
    // The parser fails again with all that comes behind.
    else if (!refused.has(socket)) {
      refused.add(socket);
      // What is sent on would count as moving, and a client that reads nothing would keep its connection.
      socket.pause();
      afterAnswers(socket, lastAnswer(socket), () => refuse(socket, failure));
    }
  });
  server.on("connect", (_request, socket) => {
    // Node counts no time any more for the answers before it.
    if (lastAnswer(socket) === undefined) refuse(socket, new ApiError("notFound"));
    else socket.destroy();
  });
  // An expectation that we do not know is no reason to refuse (the standard's 417 is not a code of the API).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
}

/**
 * Calls `refuseRest` when all whole requests are answered. `last`: the answer to the last one, which may be the one
 * that broke.
 */
function afterAnswers(socket: Duplex, last: ServerResponse | undefined, refuseRest: () => void): void {
  if (last === undefined) refuseRest();
  else if (last.req.complete) {
    // Before Node closes the connection, where its client has ended it. Behind a request that ends it nothing is a
    // request.
    if (last.shouldKeepAlive) last.prependOnceListener("finish", refuseRest);
  }
  // It was answered before it had come: one more answer would be taken for the next request's.
  else if (last.writableFinished) close(socket, "");
  // It has its socket when the answers before it are sent.
  else if (last.socket === null) last.once("socket", refuseRest);
  else if (!last.headersSent) refuseRest();
  else socket.destroy();
}

const guards = Object.entries({ ...alwaysHeaders, ...secretHeaders })
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join("");

/** Answers, and closes the connection. */
function refuse(socket: Duplex, error: ApiError): void {
  // It is being closed, behind an answer perhaps that is not sent yet.
  if (!socket.writable) return;
  const { kind } = error;
  const body = failureText(error, null);
  close(
    socket,
    `HTTP/1.1 ${kind.status} ${kind.text}\r\ncontent-type: ${jsonType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${guards}connection: close\r\n\r\n${body}`,
  );
}

/** Closes the connection behind a text: soon, whatever the client does, for Node counts no time for it any more. */
function close(socket: Duplex, text: string): void {
  // Closed with bytes unread, it would be reset, and its client might lose the answer.
  socket.resume();
  // Node took its own listener away from a connection that asks for a tunnel. Without one, a client that breaks off
  // would end the process.
  socket.on("error", () => socket.destroy());
  socket.end(text);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}
