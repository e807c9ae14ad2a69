import assert from "node:assert/strict";
import { it } from "node:test";
import { Connection } from "./connection.ts";

it("a call that goes on after the end opens no session, which nobody would end", async () => {
  let opened = 0;
  const connection = new Connection(() => {
    opened++;
    return Promise.reject(new Error("it was opened"));
  });
  await connection.close();
  await assert.rejects(connection.session(), { name: "EngineError", trouble: "down" });
  assert.equal(opened, 0);
});
