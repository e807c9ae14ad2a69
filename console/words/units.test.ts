import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inUnit, quantityText, spanText } from "./units.ts";

describe("quantities", () => {
  it("stay as the API gives them for metric", () => {
    assert.equal(inUnit(80, "speed", "metric"), 80);
    assert.equal(quantityText(80.4, "speed", "metric", "en"), "80 km/h");
  });

  it("are miles, Fahrenheit and gallons for the US", () => {
    assert.equal(Math.round(inUnit(100, "speed", "us") * 1000) / 1000, 62.137);
    assert.equal(inUnit(100, "temperature", "us"), 212);
    assert.equal(inUnit(3.785411784, "volume", "us"), 1);
  });

  it("are gallons alone for metric with gallons", () => {
    assert.equal(inUnit(3.785411784, "volume", "metricGallons"), 1);
    assert.equal(inUnit(10, "distance", "metricGallons"), 10);
  });

  it("are written as the language does", () => {
    assert.equal(quantityText(1234.56, "distance", "metric", "es"), "1234,6 km");
    assert.equal(quantityText(12.5, "voltage", "metric", "es"), "12,5 V");
  });
});

describe("spans", () => {
  it("name the two largest units", () => {
    assert.equal(spanText(0, "en"), "0s");
    assert.equal(spanText(59, "en"), "59s");
    assert.equal(spanText(125, "en"), "2m 5s");
    assert.equal(spanText(7200, "en"), "2h");
    assert.equal(spanText(90_061, "en"), "1d 1h");
  });
});
