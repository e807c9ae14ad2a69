import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { describeConfig } from "./describe.ts";
import { type ConfigInput, type LoadedConfig, loadConfig } from "./load.ts";
import { describeProblems, type Problem } from "./problem.ts";
import { settings } from "./settings.ts";
import { editDistance, suggest } from "./suggest.ts";

function loaded(input: ConfigInput): LoadedConfig {
  const result = loadConfig(input);
  if ("problems" in result) assert.fail(describeProblems(result.problems));
  return result;
}

function problems(input: ConfigInput): readonly Problem[] {
  const result = loadConfig(input);
  return "problems" in result ? result.problems : [];
}

const file = (text: string) => ({ name: "waybeam.json", text });

test("without file and variables everything is the default, frozen to the bottom", () => {
  const { config, sources } = loaded({ env: { PATH: "/bin" } });
  assert.equal(config.http.port, 8080);
  assert.equal(config.device.port, 8888);
  assert.equal(config.data, "./data");
  assert.equal(config.licenses, 10_000);
  assert.equal(config.api.requestsPerMinute, 3000);
  assert.ok(Object.isFrozen(config) && Object.isFrozen(config.http));
  assert.deepEqual(new Set(sources.values()), new Set(["default"]));
});

test("a bad value of the file is a problem, also where a variable hides it", () => {
  const found = problems({ env: { WAYBEAM_HTTP_PORT: "2" }, file: file('{"http":{"port":80800}}') });
  assert.deepEqual(
    found.map(({ key, from }) => [key, from]),
    [["http.port", "waybeam.json"]],
  );
});

test("a variable wins over the file, the file over the default; an empty variable is not set", () => {
  const text = '{"http":{"port":1,"host":"127.0.0.1"},"data":"/srv/waybeam"}';
  const { config, sources } = loaded({ env: { WAYBEAM_HTTP_PORT: "2", WAYBEAM_DATA: "" }, file: file(text) });
  assert.equal(config.http.port, 2);
  assert.equal(config.http.host, "127.0.0.1");
  assert.equal(config.data, "/srv/waybeam");
  assert.equal(sources.get("http.port"), "WAYBEAM_HTTP_PORT");
  assert.equal(sources.get("http.host"), "waybeam.json");
  assert.equal(sources.get("device.port"), "default");
});

test("all problems come at once, each with key, source, what is wrong and what is right", () => {
  const found = problems({
    env: { WAYBEAM_HTTP_PROT: "1", WAYBEAM_DEVICE_PORT: "99999", WAYBEAM_LOG_LEVEL: "loud", WAYBEAM_ZZZZZZ: "1" },
    file: file('{"http":{"port":"8080","hsot":"x"},"device":7,"licences":3}'),
  });
  assert.deepEqual(
    found.map(({ key, from, right }) => [key, from, right]),
    [
      ["http.hsot", "waybeam.json", "did you mean http.host?"],
      ["device", "waybeam.json", "it must be a JSON object"],
      ["licences", "waybeam.json", "did you mean licenses?"],
      ["http.port", "waybeam.json", "it must be an integer from 0 to 65535"],
      ["device.port", "WAYBEAM_DEVICE_PORT", "it must be an integer from 0 to 65535"],
      ["log.level", "WAYBEAM_LOG_LEVEL", "it must be one of debug, info, warn, error, silent"],
      ["WAYBEAM_HTTP_PROT", "environment", "did you mean WAYBEAM_HTTP_PORT?"],
      ["WAYBEAM_ZZZZZZ", "environment", "`waybeam config` lists all settings"],
    ],
  );
  assert.match(describeProblems(found), /^device\.port \(from WAYBEAM_DEVICE_PORT\): "99999" is not allowed; it must/m);
});

test("a suggestion is made for what resembles a variable without the prefix that all have", () => {
  const rightOf = (name: string) => problems({ env: { [name]: "1" } })[0]?.right;
  for (const name of ["FOO", "HOST", "NAME", "TEST", "PORT", "X"])
    assert.equal(rightOf(`WAYBEAM_${name}`), "`waybeam config` lists all settings", name);
  assert.equal(rightOf("WAYBEAM_DTA"), "did you mean WAYBEAM_DATA?");
  assert.equal(rightOf("WAYBEAM_http-port"), "did you mean WAYBEAM_HTTP_PORT?");
});

test("a file that is not JSON, or not an object, is one problem", () => {
  for (const text of ["{", "", "7", "[]", "null"]) {
    const found = problems({ env: {}, file: file(text) });
    assert.deepEqual([found.length, found[0]?.key, found[0]?.from], [1, "the whole file", "waybeam.json"], text);
  }
});

test("a secret is shown neither where it is in force nor where it is wrong", () => {
  const key = "k".repeat(32);
  const result = loaded({ env: { WAYBEAM_OPERATOR_KEY: key } });
  assert.equal(result.config.operator.key, key);
  assert.doesNotMatch(JSON.stringify(describeConfig(result)), /kkk/);
  assert.match(JSON.stringify(describeConfig(result)), /\(secret\)/);
  const wrong = describeProblems(problems({ env: { WAYBEAM_OPERATOR_KEY: "too-short" } }));
  assert.match(wrong, /operator\.key/);
  assert.doesNotMatch(wrong, /too-short/);
});

test("the command line's own variables are known", () => {
  const env = { WAYBEAM_URL: "http://x", WAYBEAM_USER: "a", WAYBEAM_API_KEY: "b", WAYBEAM_CONFIG: "c" };
  assert.deepEqual(problems({ env }), []);
});

test("each setting's variable is named after its key, and its default is allowed", () => {
  for (const { key, env } of settings) {
    const words = key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).replaceAll(".", "_");
    assert.equal(env, `WAYBEAM_${words.toUpperCase()}`);
  }
  assert.equal(new Set(settings.map(({ env }) => env)).size, settings.length);
});

test("what is described is what is in force", () => {
  const described = describeConfig(loaded({ env: { WAYBEAM_LICENSES: "5" } }));
  assert.equal(described.length, settings.length);
  const licenses = described.find(({ key }) => key === "licenses");
  assert.deepEqual([licenses?.value, licenses?.from, licenses?.unit], [5, "WAYBEAM_LICENSES", "devices"]);
});

test("any text of a file and any values of variables give settings or problems, never an exception", () => {
  const names = fc.constantFrom(...settings.map(({ env }) => env), "WAYBEAM_X");
  const env = fc.dictionary(names, fc.string());
  fc.assert(
    fc.property(env, fc.oneof(fc.json(), fc.string()), (variables, text) => {
      const result = loadConfig({ env: variables, file: file(text) });
      assert.ok("config" in result || result.problems.length > 0);
    }),
  );
});

test("edit distance is a metric, and suggestions are near", () => {
  const word = fc.string({ maxLength: 12, unit: fc.constantFrom("a", "b", "c") });
  fc.assert(
    fc.property(word, word, word, (a, b, c) => {
      assert.equal(editDistance(a, a), 0);
      assert.equal(editDistance(a, b), editDistance(b, a));
      assert.ok(editDistance(a, c) <= editDistance(a, b) + editDistance(b, c));
    }),
  );
  assert.equal(suggest("http-port", ["http.port", "http.host"]), "http.port");
  assert.equal(suggest("entirely", ["http.port"]), undefined);
});

test("a switch is true or false, in the file as in a variable", () => {
  const env = (value: string) => ({ env: { WAYBEAM_PASSWORDS_REQUIRE_ENCRYPTED: value } });
  assert.equal(loaded(env("true")).config.passwords.requireEncrypted, true);
  assert.equal(loaded(env("false")).config.passwords.requireEncrypted, false);
  assert.equal(loaded({ env: {} }).config.passwords.requireEncrypted, false);
  const text = '{"passwords":{"requireEncrypted":true}}';
  assert.equal(loaded({ env: {}, file: file(text) }).config.passwords.requireEncrypted, true);
  for (const value of ["yes", "1", "TRUE"])
    assert.deepEqual(
      problems(env(value)).map(({ key, right }) => [key, right]),
      [["passwords.requireEncrypted", "it must be true or false"]],
    );
});

test("pages that may report are named by their origins; anything else stops the start", () => {
  const given = (value: string) => ({ env: { WAYBEAM_DEVICE_CORS_ORIGINS: value } });
  assert.equal(loaded({ env: {} }).config.device.corsOrigins, "");
  for (const value of ["*", "https://app.example", "http://[::1]:3000, capacitor://localhost"])
    assert.equal(loaded(given(value)).config.device.corsOrigins, value);
  for (const value of [
    "app.example",
    "https://app.example/",
    "https://App.example",
    "*,https://a",
    "https://a,",
    "a b",
  ])
    assert.deepEqual(
      problems(given(value)).map(({ key, from }) => [key, from]),
      [["device.corsOrigins", "WAYBEAM_DEVICE_CORS_ORIGINS"]],
      value,
    );
});

test("proxies that are believed are addresses, networks and names of ranges; anything else stops the start", () => {
  const given = (value: string) => ({ env: { WAYBEAM_HTTP_TRUST_PROXY: value } });
  assert.equal(loaded({ env: {} }).config.http.trustProxy, "");
  for (const value of ["127.0.0.1", "::1", "loopback", "10.0.0.0/8, fd00::/8,uniquelocal", "192.0.2.7/32", "::/1"])
    assert.equal(loaded(given(value)).config.http.trustProxy, value);
  for (const value of [
    "true",
    "*",
    "1",
    "10.0.0",
    "10.0.0.0/33",
    "0.0.0.0/0",
    "::1/129",
    "10.0.0.1,",
    "fe80::1%eth0",
    "a/8",
  ])
    assert.deepEqual(
      problems(given(value)).map(({ key, from }) => [key, from]),
      [["http.trustProxy", "WAYBEAM_HTTP_TRUST_PROXY"]],
      value,
    );
});

test("a map's style is a web address, and its further hosts are origins; neither can open the page to everybody", () => {
  const given = (style: string, origins: string) => ({
    env: { WAYBEAM_HTTP_MAP_STYLE: style, WAYBEAM_HTTP_MAP_ORIGINS: origins },
  });
  const { http } = loaded(
    given("https://a.example/style.json?key=1", "https://b.example,http://c.example:8080"),
  ).config;
  assert.deepEqual(
    [http.mapStyle, http.mapOrigins],
    ["https://a.example/style.json?key=1", "https://b.example,http://c.example:8080"],
  );
  for (const wrong of ["file:///style.json", "style.json", "https://a.example/s; script-src *"])
    assert.deepEqual(
      problems(given(wrong, "")).map(({ key }) => key),
      ["http.mapStyle"],
      wrong,
    );
  for (const wrong of ["*", "https://b.example/path", "https://b.example 'unsafe-inline'"])
    assert.deepEqual(
      problems(given("", wrong)).map(({ key }) => key),
      ["http.mapOrigins"],
      wrong,
    );
});

test("own ports of protocols are a list, each once", () => {
  const given = (ports: string) => ({ env: { WAYBEAM_DEVICE_PORTS: ports } });
  assert.equal(loaded(given("teltonika=5027, gt06=5023")).config.device.ports, "teltonika=5027, gt06=5023");
  for (const wrong of ["5027", "gt06=65536", "gt06=5023,gt06=5024"])
    assert.deepEqual(
      problems(given(wrong)).map(({ key, from }) => [key, from]),
      [["device.ports", "WAYBEAM_DEVICE_PORTS"]],
    );
});
