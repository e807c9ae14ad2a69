import assert from "node:assert/strict";
import { it } from "node:test";
import { changesOf, draftOfAccount, newAccountOf } from "./account-draft.ts";

const bound = { limit: 10, used: 1 };
const account = {
  ...{ id: "1", name: "North", timeZone: "America/Bogota", language: "es" as const, positionDays: null },
  ...{ licenses: { total: 5, used: 1, free: 4 }, dailyEmails: bound, dailySms: bound, deviceDailyEmails: 50 },
  ...{ deviceDailySms: 10, unconfirmedRecipients: false, creation: "2026-01-15T00:00:00.000Z" },
  quotas: {
    ...{ users: bound, groups: bound, geofences: bound, rules: bound, rulesOfDevice: { limit: 20 } },
    ...{ webhooks: bound, bytes: bound },
  },
};

it("only what was changed is sent, and what is emptied follows the service's setting again", () => {
  const before = draftOfAccount(account, "UTC");
  assert.deepEqual(changesOf({ ...before }, before), []);
  assert.deepEqual(changesOf({ ...before, licenses: 8, dailySms: "", "quotas/users": 3 }, before), [
    { op: "add", path: "/licenses", value: 8 },
    { op: "add", path: "/dailySms", value: null },
    { op: "add", path: "/quotas/users", value: 3 },
  ]);
});

it("a new account has what was filled in", () => {
  const draft = { ...draftOfAccount(undefined, "Europe/Madrid"), name: "South" };
  assert.deepEqual(newAccountOf(draft), { name: "South", timeZone: "Europe/Madrid", language: "en", licenses: 10 });
});
