import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { recipientRows, recipientsOf } from "./recipients.ts";

describe("the recipients of a rule in a form", () => {
  it("keep what the form does not show", () => {
    const before = [{ to: "ana@example.com", language: "es", units: "imperial" } as const];
    assert.deepEqual(recipientRows(before), [{ to: "ana@example.com", language: "es" }]);
    assert.deepEqual(recipientsOf([{ to: " ana@example.com ", language: "en" }], before), [
      { to: "ana@example.com", language: "en", units: "imperial" },
    ]);
  });

  it("have the account's language where none is chosen", () => {
    assert.deepEqual(
      recipientsOf([{ to: "bo@example.com", language: "" }], [{ to: "bo@example.com", language: "es" }]),
      [{ to: "bo@example.com" }],
    );
  });

  it("are none where nobody is named", () => {
    assert.deepEqual(recipientsOf([{ to: " ", language: "es" }]), []);
  });
});
