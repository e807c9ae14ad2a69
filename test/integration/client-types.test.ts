import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import openapiTypes from "openapi-typescript";
import { makeSessionToken } from "../../src/auth/session-token.ts";
import { totp } from "../../src/auth/totp.ts";
import { firstTokenSetting } from "../../src/domain/first-password.ts";
import type { Fix } from "../../src/model/effects.ts";
import { systemIds } from "../../src/observe/index.ts";
import type { Mailer } from "../../src/ports/mailer.ts";
import { makeNotice } from "../contract/store/alert-values.ts";
import { endRest, operatorKey, type Rest, startRest } from "../support/rest.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { type PersonHeaders, personOf } from "../support/sessions.ts";

const root = join(import.meta.dirname, "../..");
const program = "every-call.ts";
const examplesFile = join(root, "src/http/plugins/answer-examples.json");

/** Names of fields whose values are keys or long, and what stands for them. */
const secrets: Readonly<Record<string, string>> = {
  token: "<TOKEN>",
  apiKey: "<API_KEY>",
  key: "8fJq2mQ9kVx0aBcD",
  n: "<MODULUS>",
  kid: "<THUMBPRINT>",
  csrf: "<CSRF>",
  secret: "<SECRET>",
  uri: "otpauth://totp/Waybeam:owner%40example.com?secret=<SECRET>&issuer=Waybeam",
};
/** Entries of a map that an example shows: there are hundreds of countries and zones. */
const shownEntries = 2;

/** An answer as an example: with the same ids and moments in every run. */
function exampleOf(answer: unknown): unknown {
  const ids = new Map<string, string>();
  const text = JSON.stringify(answer).replaceAll(
    /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
    (id) => {
      const known = ids.get(id) ?? `019ab301-52f7-7c90-9a1e-${String(ids.size + 1).padStart(12, "0")}`;
      ids.set(id, known);
      return known;
    },
  );
  return JSON.parse(text, (name, value: unknown) => {
    if (name === "apiUsage" || name === "apiDailyUsage") return 7;
    if ((name === "countries" || name === "timeZones") && typeof value === "object")
      return Object.fromEntries(Object.entries(Object(value)).slice(0, shownEntries));
    if (name === "recoveryCodes" && Array.isArray(value)) return ["abcd-efgh-2345-6789"];
    if (typeof value !== "string") return value;
    // By this the tests' alerts differ; those of the service have no such fact.
    if (name === "event" && value.startsWith("event ")) return undefined;
    if (Object.hasOwn(secrets, name)) return secrets[name];
    if (name === "id" && /^[\w-]{8}-\d+$/.test(value)) return "hVx2mQ9k-42";
    return value
      .replaceAll(/wbs_[\w-]{43}/g, "<TOKEN>")
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "2026-11-21T10:29:00.000Z")
      .replaceAll(/[\w-]+@example\.com/g, "owner@example.com");
  });
}

/** Where the device of the live stream's example is. */
const fix: Fix = {
  type: "fix",
  time: Date.parse("2026-11-21T10:29:00Z"),
  valid: true,
  latitude: 4.711,
  longitude: -74.0721,
  speed: 42,
  course: 181,
  alarms: [],
  readings: { battery: 85 },
  attributes: { satellites: "9" },
};
/** Half an hour earlier, some kilometres away. */
const fixBefore: Fix = { ...fix, time: fix.time - 1_800_000, latitude: 4.59 };

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}
interface Sent {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly header?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

let rest: Rest;
let folder: string;
let lastMail = "";
const mailer: Mailer = {
  send: async ({ text }) => {
    lastMail = text;
    return { outcome: "accepted", peerId: "" };
  },
  close: async () => {},
};
before(async () => {
  rest = await startRest({ mailer });
  // In the checkout, so that the compiler finds Node's types.
  folder = dataFolder();
});
after(async () => {
  await endRest(rest);
  removeFolder(folder);
});

/** Runs TypeScript over the folder; gives what it says. */
async function compile(): Promise<string> {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  return promisify(execFile)(process.execPath, [compiler, "-p", folder]).then(
    () => "",
    ({ stdout }: { stdout: string }) => stdout,
  );
}

test("types made from the document compile with a program that uses every call, which then works", async () => {
  const document = (await rest.http.inject("/openapi.json")).json<Document>();
  await writeFile(
    join(folder, "api.ts"),
    await openapiTypes({ ...document, openapi: "3.1.0", info: { title: "", version: "" } }),
  );
  await copyFile(join(root, "test/client", program), join(folder, program));
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: join(root, "tsconfig.json"), include: ["*.ts"] }),
  );
  assert.equal(await compile(), "");

  const calls = new Map(
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId }]) => [operationId, { method, path }] as const),
    ),
  );
  const made = new Set<string>();
  const answered = new Map<string, unknown>();
  const { everyCall } = await import(join(folder, program));
  const { token: firstToken, hash } = makeSessionToken(systemIds);
  await rest.store.accounts.setting(firstTokenSetting, () => hash);
  const totpNow = (secret: string) => totp(secret, Math.floor(rest.clock.now() / 30_000));
  let browser: PersonHeaders | undefined;
  await everyCall(
    async (id: string, token: string | undefined, { path = {}, query, header, body }: Sent) => {
      made.add(id);
      // No call makes one.
      const device = id === "listNotifications" ? await rest.store.devices.find(path.deviceId ?? "") : undefined;
      if (device !== undefined) await makeNotice(rest.store, device.key, { state: "suppressed", reason: "tried" });
      if (id === "stream") await rest.report(query?.device ?? "", fixBefore, fix);
      const { method, path: template } = calls.get(id) ?? { method: "", path: "" };
      const url = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ""));
      const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
      const answer = await rest.call(method.toUpperCase(), url + search, {
        body,
        ...(token === undefined ? {} : { token }),
        headers: { ...(token === undefined && browser), ...header },
      });
      assert.ok(answer.status < 300, `${id}: ${answer.status} ${answer.body}`);
      if (id === "signIn" || id === "setFirstPassword") browser = personOf(answer);
      // Of a file the document has examples of its own.
      if (answer.json !== undefined) answered.set(id, answer.json);
      return answer.json ?? answer.body;
    },
    {
      ...rest.owner,
      firstToken,
      totp: totpNow,
      operatorKey,
      code: () => /this code: (\d{8})/.exec(lastMail)?.[1] ?? "",
    },
  );
  assert.deepEqual([...calls.keys()].toSorted(), [...made].toSorted());

  // The program's only recipient can't be deleted; the answer would be the same.
  answered.set("deleteRecipient", answered.get("deleteDevice"));
  // The examples of answers are what this program was answered. To take them over: SAVE_EXAMPLES=1.
  const shown = Object.fromEntries(
    [...answered].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([id, answer]) => [id, exampleOf(answer)]),
  );
  if (process.env.SAVE_EXAMPLES === "1") await writeFile(examplesFile, `${JSON.stringify(shown, null, 2)}\n`);
  assert.deepEqual(shown, JSON.parse(await readFile(examplesFile, "utf8")));
});
