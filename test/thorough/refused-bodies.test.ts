import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { dataFolder, removeFolder, type Service, startService } from "../support/service.ts";

describe("bodies that are refused", () => {
  const directory = dataFolder();
  let service: Service;
  before(async () => {
    service = await startService(directory);
  });
  after(async () => {
    await service.stop();
    removeFolder(directory);
  });
  const headers = () => ({ authorization: `Bearer ${service.token}`, "content-type": "application/json" });

  test("one that is too large is answered, also to a client that sends all of it first", async () => {
    const large = Buffer.alloc(8 * 1024 * 1024, "x");
    for (let round = 0; round < 30; round++) {
      const chunks = round % 2 === 0 ? large : new Blob([large]).stream();
      const answer = await fetch(`${service.url}/api/groups`, {
        method: "POST",
        headers: headers(),
        body: chunks,
        duplex: "half",
      });
      assert.equal(answer.status, 400);
      assert.match(await answer.text(), /body: is larger than the service takes/);
    }
  });

  test("the requests behind one that is not JSON are answered", async () => {
    const head = Object.entries({ host: "x", ...headers() })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("");
    const refused = `POST /api/groups HTTP/1.1\r\n${head}Content-Length: 2\r\n\r\n{x`;
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    socket.write(`${refused}${refused}GET /api/account HTTP/1.1\r\n${head}\r\n`);
    socket.end();
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes;
    });
    await once(socket, "close");
    assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 400", "HTTP/1.1 400", "HTTP/1.1 200"]);
  });

  for (const [name, rest] of [
    ["is no body", "zz\r\n"],
    ["never comes", ""],
  ] as const)
    test(`a request that was answered is not answered again where the rest of it ${name}`, async () => {
      const head = Object.entries({ host: "x", ...headers(), "transfer-encoding": "chunked" })
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join("");
      const large = 2 * 1024 * 1024;
      const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
      socket.write(`POST /api/groups HTTP/1.1\r\n${head}\r\n${large.toString(16)}\r\n${"x".repeat(large)}\r\n`);
      let text = "";
      socket.on("data", (bytes) => {
        if (text === "") socket.end(rest);
        text += bytes;
      });
      await once(socket, "close");
      assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 400"]);
    });
});
