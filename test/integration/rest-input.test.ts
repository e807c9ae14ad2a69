import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { endRest, type Rest, startRest } from "../support/rest.ts";

let rest: Rest;

before(async () => {
  rest = await startRest({ limits: { requestsPerMinute: 100_000, tokenRequestsPerMinute: 10_000 } });
});
after(() => endRest(rest));

describe("the API page", () => {
  test("loads over plain http from any machine, and asks no other host", async () => {
    const get = (url: string) => rest.http.inject({ method: "GET", url, headers: { host: "tracking.example:8080" } });
    for (const url of ["/docs", "/docs/", "/docs/static/swagger-initializer.js"]) {
      const { statusCode, headers } = await get(url);
      assert.equal(statusCode, 200, url);
      const policy = String(headers["content-security-policy"]);
      assert.doesNotMatch(policy, /upgrade-insecure-requests|https?:|\*|[a-z]\.[a-z]/, url);
      assert.match(policy, /default-src 'self'/);
      assert.equal("strict-transport-security" in headers, false);
    }
    const { body } = await get("/docs/static/swagger-initializer.js");
    assert.match(body, /"?validatorUrl"?: ?null/);
    assert.doesNotMatch(body, /validator\.swagger\.io/);
  });
});
