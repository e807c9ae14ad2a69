import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import openapiTypes from "openapi-typescript";
import type { Mailer } from "../../src/ports/mailer.ts";
import { makeNotice } from "../contract/store/alert-values.ts";
import { endRest, operatorKey, type Rest, startRest } from "../support/rest.ts";
import { dataFolder, removeFolder } from "../support/service.ts";

const root = join(import.meta.dirname, "../..");
const program = "every-call.ts";

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
  const { everyCall } = await import(join(folder, program));
  await everyCall(
    async (id: string, token: string | undefined, { path = {}, query, header, body }: Sent) => {
      made.add(id);
      // No call makes one.
      const device = id === "listNotifications" ? await rest.store.devices.find(path.deviceId ?? "") : undefined;
      if (device !== undefined) await makeNotice(rest.store, device.key, { state: "suppressed", reason: "tried" });
      const { method, path: template } = calls.get(id) ?? { method: "", path: "" };
      const url = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ""));
      const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
      const answer = await rest.call(method.toUpperCase(), url + search, {
        body,
        ...(token === undefined ? {} : { token }),
        ...(header === undefined ? {} : { headers: header }),
      });
      assert.ok(answer.status < 300, `${id}: ${answer.status} ${answer.body}`);
      return answer.json ?? answer.body;
    },
    { ...rest.owner, operatorKey, code: () => /this code: (\d{8})/.exec(lastMail)?.[1] ?? "" },
  );
  assert.deepEqual([...calls.keys()].toSorted(), [...made].toSorted());
});
