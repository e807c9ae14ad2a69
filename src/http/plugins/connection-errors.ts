import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "../../errors/catalogue.ts";
import { failureText, jsonType } from "../envelope.ts";
import { alwaysHeaders, secretHeaders } from "./headers.ts";

/** Time in which a client reads why it was refused, ms. */
const lingerMs = 2000;

/** What Node's parser refuses never becomes a request; it too is answered in the envelope, with a listed code. */
export function answerConnectionErrors(server: Server): void {
  server.removeAllListeners("clientError");
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    // What speaks no TLS that we speak gets no answer either.
    if (error.code === "ECONNRESET" || !socket.writable || /^ERR_(SSL|TLS)_/.test(error.code ?? "")) socket.destroy();
    else refuse(socket, new ApiError(error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? "requestTimeout" : "badRequest"));
  });
  server.on("connect", (_request, socket) => refuse(socket, new ApiError("notFound")));
  // An expectation that we do not know is no reason to refuse (the standard's 417 is not a code of the API).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
}

const guards = Object.entries({ ...alwaysHeaders, ...secretHeaders })
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join("");

/** Answers, and closes the connection: soon, whatever the client does, for Node counts no time for it any more. */
function refuse(socket: Duplex, error: ApiError): void {
  const { kind } = error;
  const body = failureText(error, null);
  // Node took its own listener away from a connection that asks for a tunnel. Without one, a client that breaks off would end the process.
  socket.on("error", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${kind.status} ${kind.text}\r\ncontent-type: ${jsonType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${guards}connection: close\r\n\r\n${body}`,
  );
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}
