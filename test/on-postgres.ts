/**
 * Runs the suites that both engines must pass on PostgreSQL; `npm run test:all` has run them on the embedded store. `test/support/engine.ts` gives each data folder of a test a database of its
 * own. All are on one server, which is started here. Test files that are named as arguments run in place of these.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { noPostgres, PostgresServer } from "./support/postgres.ts";

const integration = (...names: string[]) => names.map((name) => `test/integration/${name}.test.ts`);

/** Suites whose answers depend on the store. What looks at the files of the embedded store, or needs no store, is not among them. */
const suites: Readonly<Record<string, readonly string[]>> = {
  "the REST API: each call, and what each may not change": [
    "test/fuzz/api.test.ts",
    ...integration("accounts", "users", "users-at-once", "way-in", "passwords", "tokens", "permissions", "groups"),
    ...integration("devices", "identity", "expiry", "limits", "quotas", "pages", "rest-input", "failures", "look-ups"),
    ...integration("locations", "readings", "old-positions", "client-types", "geofences"),
    ...integration(
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
    ...integration("alerts", "alerts-ingest", "alert-rules", "alert-rules-of-device", "rule-trial", "rule-commands"),
    ...integration("alert-rule-rights", "account-alerts", "alert-ends", "late-ends", "notice-pauses"),
    ...integration("notifications", "notice-subjects", "recipients", "recipient-notices", "caps", "own-clock"),
    ...integration("outbox", "outbox-claims", "outbox-stop", "outbox-turns"),
  ],
  "kills, bursts and late reports; test/integration/postgres-serve.test.ts kills the server": [
    ...integration("crash", "command-crash", "notice-crash", "bursts", "backlog", "late-reports", "http-reports"),
  ],
};

/** Runs test files on a server; gives the exit code of the runner. */
async function run(files: readonly string[]): Promise<number> {
  const server = await PostgresServer.start({ fsync: true, settings: [["max_connections", "200"]] });
  const options = ["--import", "./test/support/an-end.ts", "--test", "--test-timeout=240000", "--test-concurrency=2"];
  const child = spawn(process.execPath, [...options, ...files], {
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
