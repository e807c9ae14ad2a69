import { existsSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { systemIds } from "../../src/observe/index.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { silentLog } from "./silent-log.ts";

/*
 * A process that opens the store of a data folder (its first argument), with its secret key where it has one, commits some changes, prints how many, and closes the store. How it ends (its second argument):
 * - "closed": by itself.
 * - "killed": by SIGKILL, in place of the close.
 * - "full": by itself, after it has committed until the disk took no more.
 * - The name of a call: the process exits, as after a second Ctrl-C, when it has sent that call to a worker and then waited for its third argument, ms.
 */
const [directory = "", end = "", ms = "0"] = process.argv.slice(2);
const { postMessage } = Worker.prototype;
const leave = () => process.exit(130);
Worker.prototype.postMessage = function (this: Worker, ...sent: Parameters<typeof postMessage>) {
  postMessage.apply(this, sent);
  if (sent[0]?.name !== end) return;
  if (ms === "0") leave();
  setTimeout(leave, Number(ms));
};

const file = join(directory, "secret.key");
const secrets = existsSync(file) ? { secrets: { file, ids: systemIds } } : {};
const store = await openSqliteStore({ directory, log: silentLog, pid: process.pid, ...secrets });
let commits = 0;
try {
  for (; commits < (end === "full" ? 10_000 : 5); commits++) await store.check();
} catch (error) {
  if (end !== "full") throw error;
}
process.stdout.write(String(commits));
if (end === "killed") process.kill(process.pid, "SIGKILL");
await store.close();
