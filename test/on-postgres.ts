/**
 * Runs the suites that both engines must pass on PostgreSQL; `npm run test:all` has run them on the embedded store.
 * `test/support/engine.ts` gives each data folder of a test a database of its own. All are on one server, which is
 * started here. Test files that are named as arguments run in place of these.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { noPostgres, PostgresServer } from "./support/postgres.ts";

const root = join(import.meta.dirname, "..");

/** Test files of `test/integration` or `test/thorough` by their names. */
function named(...names: string[]): readonly string[] {
  return names.map((name) => {
    const files = ["integration", "thorough"].map((folder) => `test/${folder}/${name}.test.ts`);
    const file = files.find((each) => existsSync(join(root, each)));
    if (file === undefined) throw new Error(`no test file is named ${name}`);
    return file;
  });
}

/**
 * Suites whose answers depend on the store. What looks at the files of the embedded store, or needs no store, is not
 * among them.
 */
const suites: Readonly<Record<string, readonly string[]>> = {
  "the REST API: each call, and what each may not change": [
    "test/fuzz/api.test.ts",
    ...named("accounts", "users", "users-at-once", "way-in", "passwords", "tokens", "permissions", "groups"),
    ...named("sessions", "second-factor", "first-link", "settings-sessions"),
    ...named("devices", "identity", "expiry", "limits", "quotas", "pages", "rest-input", "failures", "look-ups"),
    ...named("locations", "readings", "old-positions", "client-types", "geofences", "stream"),
    ...named(
      "commands",
      "command-states",
      "command-queue",
      "command-waits",
      "commands-sms",
      "commands-trouble",
      "settings-kept",
    ),
  ],
  "alerts, and who is told of them": [
    ...named("alerts", "alerts-ingest", "alert-rules", "alert-rules-of-device", "rule-trial", "rule-commands"),
    ...named("alert-rule-rights", "account-alerts", "alert-ends", "late-ends", "notice-pauses"),
    ...named("notifications", "notice-subjects", "recipients", "recipient-notices", "caps", "own-clock"),
    ...named("outbox", "outbox-claims", "outbox-stop", "outbox-turns"),
  ],
  "kills, bursts and late reports; test/thorough/postgres-serve.test.ts kills the server": [
    ...named("crash", "command-crash", "notice-crash", "bursts", "late-reports", "http-reports"),
  ],
};

/** Runs test files on a server; gives the exit code of the runner. */
async function run(files: readonly string[]): Promise<number> {
  const server = await PostgresServer.start({ fsync: true, settings: [["max_connections", "200"]] });
  await server.makeTemplate();
  const child = spawn(join(root, "scripts/test"), files, {
    stdio: "inherit",
    env: { ...process.env, TEST_POSTGRES: server.url("postgres") },
  });
  const [code] = await once(child, "exit");
  await server.dispose();
  return typeof code === "number" ? code : 1;
}

const chosen = process.argv.slice(2);
if (noPostgres) {
  const left = Object.entries(suites).map(([what, files]) => `  ${what} (${files.length} test files)\n`);
  process.stdout.write(
    `Left out: ${noPostgres}. These suites ran on the embedded store only:\n${left.join("")}Test files with "postgres" in their names were skipped as well.\n`,
  );
} else {
  process.stdout.write("The suites that both engines must pass, on PostgreSQL:\n");
  process.exitCode = await run(chosen.length > 0 ? chosen : Object.values(suites).flat());
}
