import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Notice } from "../model/notice.ts";
import { Turns } from "./turns.ts";

function notice(key: number, account: number): Notice {
  return {
    ...{ key, account, id: `n${key}`, alertId: "a", device: 1, state: "queued", reason: null, creation: 0, dueAt: 0 },
    ...{ target: { channel: "webhook", url: "", secret: "" }, attempts: 0, finishedAt: null, peerId: null },
    countedDay: null,
  };
}

describe("turns", () => {
  it("lose none, keep each account's in order, and let no account wait for more than one of each other's", () => {
    const someAccounts = fc.array(fc.nat(5), { maxLength: 60 });
    fc.assert(
      fc.property(someAccounts, fc.nat(70), (accounts, most) => {
        const turns = new Turns();
        for (const [key, account] of accounts.entries()) turns.add(notice(key, account));
        const back = turns.keep(most);
        assert.equal(turns.size, Math.min(most, accounts.length));
        const taken: Notice[] = [];
        for (let next = turns.take(); next !== undefined; next = turns.take()) taken.push(next);
        const all = [...taken, ...back];
        for (const one of new Set(accounts)) {
          const keys = accounts.flatMap((account, key) => (account === one ? [key] : []));
          assert.deepEqual(
            all.filter(({ account }) => account === one).map(({ key }) => key),
            keys,
          );
        }
        const others = new Set(accounts).size;
        for (const account of new Set(taken.map((each) => each.account)))
          assert.ok(taken.findIndex((each) => each.account === account) < others);
        assert.deepEqual([turns.size, turns.accountCount], [0, 0]);
      }),
    );
  });
});
