import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { endRest, type Rest, startRest } from "../../../test/support/rest.ts";
import { dataFolder, removeFolder } from "../../../test/support/service.ts";

const page = "<!doctype html><title>Waybeam</title>";
const script = "export const one = 1;\n";
let folder: string;
let rest: Rest;

before(async () => {
  folder = dataFolder();
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "pages.json"), JSON.stringify(["/", "/map", "/device/:id"]));
  writeFileSync(join(folder, "index.html"), page);
  writeFileSync(join(folder, "assets/main-a1.js"), script);
  writeFileSync(join(folder, "assets/main-a1.js.br"), brotliCompressSync(script));
  rest = await startRest({ consoleFolder: folder });
});
after(async () => {
  await endRest(rest);
  removeFolder(folder);
});

function get(url: string, headers: Record<string, string> = {}) {
  return rest.http.inject({ method: "GET", url, headers });
}

describe("the console", () => {
  it("is one page at all of its paths, which nobody keeps", async () => {
    for (const url of ["/", "/map", "/device/490154203237518?from=x"]) {
      const { statusCode, headers, body } = await get(url);
      assert.deepEqual([statusCode, body], [200, page], url);
      assert.equal(headers["cache-control"], "no-store");
      assert.equal(headers["content-type"], "text/html; charset=utf-8");
    }
  });

  it("takes scripts, styles and answers from this service only", async () => {
    const policy = String((await get("/")).headers["content-security-policy"]);
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.doesNotMatch(policy, /unsafe|\*/);
  });

  it("has files that are kept for ever, compressed by the build", async () => {
    const plain = await get("/assets/main-a1.js");
    assert.equal(plain.body, script);
    assert.equal(plain.headers["cache-control"], "public, max-age=31536000, immutable");
    assert.equal(plain.headers.vary, "accept-encoding");
    const coded = await get("/assets/main-a1.js", { "accept-encoding": "gzip, br" });
    assert.equal(coded.headers["content-encoding"], "br");
    assert.equal(brotliDecompressSync(coded.rawPayload).toString(), script);
    // There is no file for gzip: it is sent as it is.
    assert.equal((await get("/assets/main-a1.js", { "accept-encoding": "gzip" })).body, script);
  });

  it("has no other paths and files, however they are written", async () => {
    for (const url of [
      "/nowhere",
      "/assets/none.js",
      "/assets/main-a1.js.br",
      "/assets/..%2fpages.json",
      "/pages.json",
    ]) {
      const { statusCode, headers } = await get(url);
      assert.equal(statusCode, 404, url);
      assert.match(String(headers["content-type"]), /json/);
    }
  });

  it("tells a browser of an address that is none, with its page, and a client of the API as the API does", async () => {
    const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
    for (const url of ["/nowhere", "/device/1/2", "/apiary", "/nowhere?to=/api/x%2", "/nowhere#%zz"]) {
      const { statusCode, headers, body } = await get(url, { accept });
      assert.deepEqual([statusCode, body], [404, page], url);
      assert.equal(headers["cache-control"], "no-store");
      assert.match(String(headers["content-security-policy"]), /default-src 'none'/);
    }
    for (const url of ["/api", "/api/none", "/API/none", "/%61pi/none", "/AP%49", "/api%2fx", "/api?x", "/%zz"]) {
      const { statusCode, headers } = await get(url, { accept });
      assert.equal(statusCode, url === "/%zz" ? 400 : 404, url);
      assert.match(String(headers["content-type"]), /json/);
    }
    assert.match(String((await get("/nowhere", { accept: "*/*" })).headers["content-type"]), /json/);
    const posted = await rest.http.inject({ method: "POST", url: "/nowhere", headers: { accept }, payload: "x" });
    assert.match(String(posted.headers["content-type"]), /json/);
  });

  it("is not there where it was not built", async () => {
    const without = await startRest({ consoleFolder: join(folder, "none") });
    try {
      const asked = { url: "/map", headers: { accept: "text/html" } };
      const { statusCode, headers } = await without.http.inject(asked);
      assert.deepEqual([statusCode, headers["content-type"]], [404, "application/json; charset=utf-8"]);
      assert.equal((await without.http.inject("/")).headers.location, "/docs");
    } finally {
      await endRest(without);
    }
  });
});
