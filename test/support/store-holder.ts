import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { append, batchOf, record } from "../contract/store/records.ts";
import { silentLog } from "./silent-log.ts";

/*
 * A process that holds a store's data folder (its argument), commits one record after the other, and prints the device's key and then the number
 * of each commit once it is answered, until it is killed.
 */
const store = await openSqliteStore({ directory: process.argv[2] ?? "", log: silentLog, pid: process.pid });
const account = await makeAccount(store);
const device = await makeDevice(store, account.key);
process.stdout.write(`${device.key}\n`);
for (let version = 1; ; version++) {
  await store.locations.commit(batchOf(append(device.key, version, [record(version)])));
  process.stdout.write(`${version}\n`);
}
