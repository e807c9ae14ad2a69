import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test } from "node:test";
import { createMetrics } from "../../observe/index.ts";
import { shareConnections } from "./connections.ts";

test("a connection whose request was answered before the body came makes room when the body has come", async (context) => {
  const whole = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    request.on("end", () => whole.resolve());
    request.resume();
    response.end("x");
  });
  const limits = { connections: 100, connectionsPerAddress: 1 };
  shareConnections(server, limits, "", createMetrics({ processMetrics: false }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;

  const idle = connect(port, "127.0.0.1");
  idle.on("error", () => {});
  idle.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n");
  await once(idle, "data");
  idle.write("{}");
  await whole.promise;

  const other = connect(port, "127.0.0.1");
  let text = "";
  other.on("error", () => {});
  other.on("data", (bytes) => {
    text += bytes;
    other.end();
  });
  other.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(other, "close");
  assert.match(text, /^HTTP\/1\.1 200/);
});
