import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  anyText,
  ddmmyy,
  decimal,
  degreesMinutes,
  degreesMinutesText,
  digits,
  type Field,
  grammar,
  hex,
  hhmmss,
  integer,
  latitude,
  longitude,
  Mismatch,
  mismatch,
  numberOf,
  oneOf,
  optional,
  percentOf,
} from "./text.ts";

function read<T>(field: Field<T>, ...texts: string[]): T | typeof mismatch {
  return field.read(texts, 0);
}

/** Every field that reads one text, for what holds for all of them. */
const single: readonly Field<unknown>[] = [digits(1, 20), integer, decimal, hex(1, 8), hhmmss, ddmmyy, oneOf({ A: 1 })];

describe("fields", () => {
  it("read what was written: decimals", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -999_999_999, max: 999_999_999 }),
        fc.integer({ min: 0, max: 6 }),
        (whole, places) => {
          const value = whole / 10 ** places;
          assert.equal(read(decimal, value.toFixed(places)), value === 0 ? 0 : value);
          assert.equal(read(decimal, `  ${value.toFixed(places)} `), value === 0 ? 0 : value);
        },
      ),
      { examples: [[-13_587_065, 6]], numRuns: 10_000 },
    );
  });

  it("read what was written: numbers with more digits than a double can hold", () => {
    const digitsOf = fc.array(fc.nat(9), { minLength: 1, maxLength: 40 }).map((some) => some.join(""));
    fc.assert(
      fc.property(fc.nat(999_999_999), digitsOf, fc.boolean(), (whole, decimals, negative) => {
        const text = `${negative ? "-" : ""}${whole}.${decimals}`;
        // Zero has no sign.
        assert.equal(read(decimal, text), Number(text) + 0);
        assert.equal(read(decimal, `${text}e`), mismatch);
      }),
      { examples: [[1, "5075205233421496", false]] },
    );
    assert.equal(read(decimal, `-0.${"0".repeat(400)}1`), 0);
  });

  it("read what was written: whole numbers and hex", () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), (value) => {
        assert.equal(read(integer, String(value)), value);
        assert.equal(read(hex(1, 8), value.toString(16)), value);
        assert.equal(read(hex(8), value.toString(16).toUpperCase().padStart(8, "0")), value);
      }),
    );
  });

  it("read what was written: times and dates", () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date("2000-01-01"), max: new Date("2099-12-31"), noInvalidDate: true }),
        (date) => {
          const iso = date.toISOString();
          const day = `${iso.slice(8, 10)}${iso.slice(5, 7)}${iso.slice(2, 4)}`;
          const clock = `${iso.slice(11, 13)}${iso.slice(14, 16)}${iso.slice(17, 23)}`;
          const from = read(ddmmyy, day);
          const time = read(hhmmss, clock);
          assert.ok(typeof from === "number" && typeof time === "number");
          assert.equal(from + time, date.getTime());
          assert.equal(read(hhmmss, clock.slice(0, 6)), Math.floor(time / 1000) * 1000);
        },
      ),
    );
  });

  it("read what was written: coordinates", () => {
    fc.assert(
      fc.property(fc.double({ min: -90, max: 90, noNaN: true }), fc.integer({ min: 3, max: 7 }), (degrees, places) => {
        const minutes = Math.abs(degrees) * 60;
        const scale = 10 ** places;
        const units = Math.round(minutes * scale);
        const whole = Math.floor(units / (60 * scale));
        const rest = ((units % (60 * scale)) / scale).toFixed(places).padStart(3 + places, "0");
        const text = `${String(whole).padStart(2, "0")}${rest}`;
        const tolerance = 0.5 / scale / 60 + 1e-7;
        const north = read(latitude, text, degrees < 0 ? "S" : "N");
        assert.ok(typeof north === "number" && Math.abs(north - degrees) <= tolerance, `${text}: ${String(north)}`);
        const east = read(longitude, `0${text}`, degrees < 0 ? "W" : "E");
        assert.equal(east, north);
      }),
    );
  });

  it("refuse what is nearly right", () => {
    for (const text of ["", " ", ".", "-", "+", "1e5", "0x10", "1.2.3", "--1", "1-", "Infinity", "NaN", "1,2", "１"])
      assert.equal(read(decimal, text), mismatch, text);
    for (const text of ["", "-1", "1.0", " 1", "a"]) assert.equal(read(integer, text), mismatch, text);
    for (const text of ["240000", "126000", "120060", "12000", "1200001", "12:00:00", ""])
      assert.equal(read(hhmmss, text), mismatch, text);
    for (const text of ["300226", "000126", "011326", "0102026", "1", ""])
      assert.equal(read(ddmmyy, text), mismatch, text);
    for (const text of ["5160.0000", "5.1", "51075000", "-5107.5", "51o7.5", ".5"])
      assert.equal(degreesMinutes(text), mismatch, text);
    for (const [text, side] of [
      ["5107.5", "E"],
      ["5107.5", ""],
    ] as const)
      assert.equal(read(latitude, text, side), mismatch, text);
    for (const text of ["", "g", "123456789", "0x1", "@", "`"]) assert.equal(read(hex(1, 8), text), mismatch, text);
    assert.equal(read(digits(4), "12a4"), mismatch);
    assert.equal(read(oneOf({ A: 1 }), "constructor"), mismatch);
  });

  it("take limits as they stand", () => {
    assert.equal(read(latitude, "9000.0000", "S"), -90);
    assert.equal(read(longitude, "18000.0000", "E"), 180);
    assert.ok(Object.is(read(latitude, "0000.0000", "S"), 0));
    assert.equal(read(latitude, "9530.0000", "S"), -95.5);
    assert.equal(read(longitude, "20000.0000", "E"), 200);
    assert.equal(read(hhmmss, "235959.999"), 86_399_999);
    assert.equal(read(ddmmyy, "290224"), Date.UTC(2024, 1, 29));
  });

  it("never throw and never give a number that is none", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string(), (text, next) => {
        for (const field of single) assert.ok(!Number.isNaN(read(field, text)));
        for (const field of [latitude, longitude]) assert.ok(!Number.isNaN(read(field, text, next)));
        for (const field of [...single, latitude, longitude]) assert.equal(field.read([], 0), mismatch);
      }),
    );
  });
});

describe("a grammar", () => {
  const form = grammar({
    time: hhmmss,
    valid: oneOf({ A: true, V: false }),
    latitude: optional(latitude),
    battery: hex(1, 2),
    rest: optional(anyText),
  });

  it("gives each field its value, from any place of a sentence", () => {
    const fields = "*HQ,1,000001,A,5107.5000,N,7f".split(",");
    assert.equal(form.width, 6);
    assert.deepEqual(form.read(fields, 2), {
      time: 1000,
      valid: true,
      latitude: 51.125,
      battery: 127,
      rest: undefined,
    });
    assert.deepEqual(form.read("000001,V,,,12,x".split(","), 0), {
      time: 1000,
      valid: false,
      latitude: undefined,
      battery: 0x12,
      rest: "x",
    });
  });

  it("names the first field that is not of its form", () => {
    const wrong = (text: string) => {
      const values = form.read(text.split(","), 0);
      return values instanceof Mismatch ? values.field : undefined;
    };
    assert.equal(wrong("1,A,,,1,"), "time");
    assert.equal(wrong("000001,B,,,1,"), "valid");
    assert.equal(wrong("000001,A,51,N,1,"), "latitude");
    assert.equal(wrong("000001,A,,"), "battery");
  });
});

describe("numberOf and percentOf", () => {
  it("give the number of a field, and of one with a percent sign", () => {
    const fields = ["-1.50", "007", "40.39%", "", "%", "1e3", undefined];
    assert.deepEqual(fields.map(numberOf), [-1.5, 7, undefined, undefined, undefined, undefined, undefined]);
    assert.deepEqual(fields.map(percentOf), [-1.5, 7, 40.39, undefined, undefined, undefined, undefined]);
  });
});

describe("degreesMinutesText", () => {
  it("writes what degreesMinutes reads, and carries sixty minutes", () => {
    assert.equal(degreesMinutesText(-13.7375, 3), "01344.2500");
    assert.equal(degreesMinutesText(51.125, 2, 6), "5107.500000");
    assert.equal(degreesMinutesText(59.9999999, 2), "6000.0000");
    assert.equal(degreesMinutesText(0, 2, 5), "0000.00000");
  });
});
