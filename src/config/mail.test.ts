import assert from "node:assert/strict";
import { test } from "node:test";
import { describeConfig, loadConfig } from "./index.ts";

type Values = Readonly<Record<string, string>>;

function problems(env: Values): string[] {
  const result = loadConfig({ env });
  return "problems" in result ? result.problems.map(({ key }) => key) : [];
}

const server = { WAYBEAM_MAIL_HOST: "smtp.example.org", WAYBEAM_MAIL_FROM: "Alerts <alerts@example.org>" };

test("without a mail server its settings are not asked for", () => {
  assert.deepEqual(problems({ WAYBEAM_MAIL_USER: "us" }), []);
});

test("a mail server needs a sender, and a user name its password, which goes over TLS alone", () => {
  assert.deepEqual(problems(server), []);
  assert.deepEqual(problems({ WAYBEAM_MAIL_HOST: "smtp.example.org" }), ["mail.from"]);
  assert.deepEqual(problems({ ...server, WAYBEAM_MAIL_USER: "us" }), ["mail.password"]);
  assert.deepEqual(problems({ ...server, WAYBEAM_MAIL_PASSWORD: "x" }), ["mail.user"]);
  const account = { ...server, WAYBEAM_MAIL_USER: "us", WAYBEAM_MAIL_PASSWORD: "x" };
  assert.deepEqual(problems(account), []);
  assert.deepEqual(problems({ ...account, WAYBEAM_MAIL_SECURITY: "opportunistic" }), ["mail.security"]);
});

test("the sender is one address, with a name or without", () => {
  for (const from of ["a@example.org", "<a@example.org>", "Trucks, all <a@example.org>"])
    assert.deepEqual(problems({ ...server, WAYBEAM_MAIL_FROM: from }), []);
  for (const from of ["a", "a@b, c@d", "a@b <c@d", "A <a@b> <c@d>", "A\r\nBcc: x <a@b>"])
    assert.deepEqual(problems({ ...server, WAYBEAM_MAIL_FROM: from }), ["mail.from"]);
});

test("the password is not shown", () => {
  const result = loadConfig({ env: { ...server, WAYBEAM_MAIL_USER: "us", WAYBEAM_MAIL_PASSWORD: "hidden-one" } });
  assert.ok("config" in result);
  assert.ok(!JSON.stringify(describeConfig(result)).includes("hidden-one"));
});

test("a map's address has a place for the position", () => {
  const key = "WAYBEAM_NOTICES_MAP_LINK";
  assert.deepEqual(problems({ [key]: "https://map.example/{longitude}/{latitude}" }), []);
  for (const bad of ["https://map.example/", "https://map.example/{latitude}", "ftp://a/{latitude}{longitude}"])
    assert.deepEqual(problems({ [key]: bad }), ["notices.mapLink"]);
});
