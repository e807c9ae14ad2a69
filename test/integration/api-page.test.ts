import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { dataFolder, removeFolder, type Service, startService } from "../support/service.ts";

/** A block of the page, and the one that follows it where that shows what is answered. */
interface Example {
  readonly script: string;
  readonly kind: "json" | "jsonl" | "http" | undefined;
  readonly answer: string;
}

const page = join(import.meta.dirname, "../../docs/api.md");
const mark = "=== next example ===";
let service: Service;
let directory: string;

before(async () => {
  directory = dataFolder();
  service = await startService(directory, { WAYBEAM_API_REQUESTS_PER_MINUTE: "3000" });
});
after(async () => {
  await service.stop();
  removeFolder(directory);
});

function examplesOf(text: string): readonly Example[] {
  return [...text.matchAll(/```sh\n(.*?)```(?:\s*```(jsonl?|http)\n(.*?)```)?/gs)].map(
    ([, script = "", kind, answer = ""]) => ({
      script,
      kind: kind === "json" || kind === "jsonl" || kind === "http" ? kind : undefined,
      answer,
    }),
  );
}

/** What all the scripts print, in one shell. */
async function run(scripts: readonly string[]): Promise<readonly string[]> {
  const text = scripts
    .join(`\necho "${mark}"\n`)
    .replaceAll("http://localhost:8080", service.url)
    .replaceAll("http://localhost:8888", `http://localhost:${service.devicePort}`)
    .replaceAll("data/credentials.json", join(directory, "credentials.json"));
  const { stdout } = await promisify(execFile)("sh", ["-euc", text]);
  return stdout.split(mark).map((printed) => printed.trim());
}

const counters = new Set(["apiUsage", "apiDailyUsage"]);
const moment = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const id = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** An answer without what differs from run to run: counters, ids, keys, the present time. */
function lasting(text: string): unknown {
  return JSON.parse(text, (name, value: unknown) => {
    if (counters.has(name)) return "N";
    if (typeof value !== "string") return value;
    if (name === "apiKey") return "KEY";
    return value.replace(id, "ID").replace(moment, (time) => (time.startsWith("2026-01-15") ? time : "TIME"));
  });
}

test("the examples of docs/api.md do what the page says", async () => {
  const examples = examplesOf(await readFile(page, "utf8"));
  assert.ok(examples.length > 10);
  const printed = await run(examples.map(({ script }) => script));
  for (const [index, { script, kind, answer }] of examples.entries()) {
    const last = printed[index]?.split("\n").at(-1) ?? "";
    if (kind === "json") assert.deepEqual(lasting(last.slice(last.lastIndexOf('{"success"'))), lasting(answer), script);
    if (kind === "jsonl") {
      const lines = (text: string) => text.trim().split("\n").map(lasting);
      assert.deepEqual(lines(printed[index] ?? ""), lines(answer), script);
    }
    if (kind === "http")
      for (const [, name = ""] of answer.matchAll(/^([\w-]+):/gm))
        assert.match(printed[index] ?? "", new RegExp(`^${name}: `, "im"));
  }
});
