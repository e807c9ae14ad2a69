import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../../test/support/silent-log.ts";
import { moveStore } from "./move.ts";

test("an address of another kind than PostgreSQL's is no data folder, and a password in it is not repeated", async () => {
  const usual = { data: "/nowhere", secretFile: "", pid: 1, log: silentLog, acceptDamage: false };
  const work = { signal: new AbortController().signal, progress: () => undefined };
  for (const [from, to] of [
    ["mysql://root:hidden@a/b", "postgres://a/b"],
    ["postgres://a/b", "mysql://root:hidden@a/b"],
    ["/nowhere", "Postgres+ssl://root:hidden@a/b"],
  ] as const)
    await assert.rejects(moveStore({ ...usual, from, to }, work), (error: Error) => {
      assert.match(error.message, /^(?:mysql|Postgres\+ssl):\/\/\.\.\. is no place for a store/);
      assert.ok(!error.message.includes("hidden"));
      return true;
    });
});
