import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { said } from "../contract/positions/said.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { silentLog } from "./silent-log.ts";

/*
 * A process that holds a store's data folder (its argument), appends one record after the other, and prints the
 * device's key and then the number of each record once it is answered, until it is killed.
 */
const store = await openSqliteStore({ directory: process.argv[2] ?? "", log: silentLog, pid: process.pid });
const account = await makeAccount(store);
const device = await makeDevice(store, account.key);
process.stdout.write(`${device.key}\n`);
for (let second = 1; ; second++) {
  await store.positions.append([{ device: device.key, records: [said(second)] }]);
  process.stdout.write(`${second}\n`);
}
