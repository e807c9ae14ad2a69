import assert from "node:assert/strict";
import { test } from "node:test";
import { describeConfig, loadConfig } from "./index.ts";

type Values = Readonly<Record<string, string>>;

function problemKeys(http: Values, others: object = {}): string[] {
  const text = JSON.stringify({ sms: { kind: "http", http: { url: "https://a.example/", ...http } }, ...others });
  const result = loadConfig({ env: {}, file: { name: "waybeam.json", text } });
  return "problems" in result ? result.problems.map(({ key }) => key.replace("sms.http.", "")) : [];
}

test("without a gateway its settings are not asked for", () => {
  const result = loadConfig({ env: { WAYBEAM_SMS_HTTP_BODY: "{" } });
  assert.ok("config" in result);
  assert.equal(result.config.sms.kind, "none");
});

test("SMPP needs a host and a name, and says so beside all other problems", () => {
  const result = loadConfig({ env: { WAYBEAM_SMS_KIND: "smpp", WAYBEAM_HTTP_PORT: "x" } });
  assert.ok("problems" in result);
  assert.deepEqual(
    result.problems.map(({ key }) => key),
    ["http.port", "sms.smpp.host", "sms.smpp.systemId"],
  );
});

test("templates that work are taken", () => {
  assert.deepEqual(problemKeys({ body: '{"to":"{to}","text":"{text}"}' }), []);
  assert.deepEqual(problemKeys({ method: "GET", url: "http://a.example/{to}?t={text}&key={secret}", secret: "s" }), []);
  assert.deepEqual(
    problemKeys({ format: "form", body: "to={digits}&m={text}", binaryBody: "to={digits}&udh=&bin={hex}" }),
    [],
  );
  assert.deepEqual(problemKeys({ body: '["{text}"]', headers: '{"Authorization":"Bearer {secret}"}' }), []);
});

test("templates that can't work are refused", () => {
  assert.deepEqual(problemKeys({ url: "", body: '["{text}"]' }), ["url"]);
  assert.deepEqual(problemKeys({ url: "ftp://a.example/?{text}" }), ["url"]);
  assert.deepEqual(problemKeys({ url: "https://{to}.example/?{text}" }), ["url"]);
  assert.deepEqual(problemKeys({ url: "https://a.example/{text}" }), ["url"]);
  assert.deepEqual(problemKeys({ url: "https://a.example/?t={text}&x={msg}" }), ["url"]);
  assert.deepEqual(problemKeys({ body: '{"text":{text}}' }), ["body"]);
  assert.deepEqual(problemKeys({ body: '{"to":"{to}"}' }), ["body"]);
  assert.deepEqual(problemKeys({ method: "GET", body: '["{text}"]' }), ["body"]);
  assert.deepEqual(problemKeys({ body: '["{text}"]', binaryBody: '["{text}"]' }), ["binaryBody"]);
  for (const headers of ["[]", "x", '{"a b":"c"}', '{"a":1}', '{"a":"b\\r\\nc: d"}', '{"a":"{text}"}'])
    assert.deepEqual(problemKeys({ body: '["{text}"]', headers }), ["headers"], headers);
  assert.deepEqual(problemKeys({ body: '["{text}"]', idPattern: "(" }), ["idPattern"]);
  assert.deepEqual(problemKeys({ body: '["{text}"]', idPattern: "(.)", idPath: "id" }), ["idPattern"]);
});

test("what may hold a key is not shown, neither in force nor where it is wrong", () => {
  const env = {
    WAYBEAM_SMS_KIND: "http",
    WAYBEAM_SMS_HTTP_URL: "https://a.example/?key=hunter2&t={text}",
    WAYBEAM_SMS_HTTP_HEADERS: '{"X-Key":"hunter2"}',
    WAYBEAM_SMS_HTTP_SECRET: "hunter2",
    WAYBEAM_SMS_SMPP_PASSWORD: "hunter2",
  };
  const right = loadConfig({ env });
  assert.ok("config" in right);
  assert.doesNotMatch(JSON.stringify(describeConfig(right)), /hunter2/);
  const wrong = loadConfig({ env: { ...env, WAYBEAM_SMS_HTTP_BODY: "hunter2", WAYBEAM_SMS_HTTP_SECRET: "hunter2é" } });
  assert.ok("problems" in wrong);
  assert.doesNotMatch(JSON.stringify(wrong.problems), /hunter2/);
});
