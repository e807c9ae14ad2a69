import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addressOf, placeOf } from "./router.ts";

describe("placeOf", () => {
  it("finds pages with and without parameters", () => {
    assert.equal(placeOf("/", "").page, "home");
    assert.equal(placeOf("/map/", "").page, "map");
    assert.deepEqual(placeOf("/device/490154203237518/past", "").params, { id: "490154203237518", tab: "past" });
  });

  it("decodes parameters and the query", () => {
    const place = placeOf("/device/a%3Ab%2Fc", "?from=2026-01-15T00%3A00Z");
    assert.equal(place.params.id, "a:b/c");
    assert.equal(place.query.get("from"), "2026-01-15T00:00Z");
  });

  it("knows no page for other paths, and for those that can't be decoded", () => {
    for (const path of ["/nowhere", "/device", "/device/%E0%A4%A", "/map/more"])
      assert.equal(placeOf(path, "").page, "unknown", path);
  });
});

describe("addressOf", () => {
  it("is what placeOf reads", () => {
    const address = addressOf("deviceTab", { id: "a/b c", tab: "past" }, { from: "x&y", to: undefined });
    assert.equal(address, "/device/a%2Fb%20c/past?from=x%26y");
    const [path = "", search = ""] = address.split("?");
    const { params, query } = placeOf(path, search);
    assert.deepEqual(params, { id: "a/b c", tab: "past" });
    assert.equal(query.get("from"), "x&y");
  });
});
