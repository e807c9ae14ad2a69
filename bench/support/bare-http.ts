// A bare node:http server that answers every request with the same bytes and headers. Argument: a file with the body;
// the rest are headers, `name: value`.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const [file = "", ...lines] = process.argv.slice(2);
const body = readFileSync(file);
const headers: Record<string, string> = {};
for (const line of lines) {
  const colon = line.indexOf(":");
  headers[line.slice(0, colon)] = line.slice(colon + 1).trim();
}

const server = createServer((_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", 1024, () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) process.send?.({ port: address.port });
});
