import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decoded, readCsv } from "./csv.ts";

function values(text: string) {
  return readCsv(text).rows.map((row) => row.values);
}

describe("CSV", () => {
  it("is read with commas, semicolons and tabs", () => {
    for (const separator of [",", ";", "\t"]) {
      const text = ["ID", "Name"].join(separator).concat("\r\n", ["1", "Van"].join(separator), "\r\n");
      assert.deepEqual(values(text), [{ id: "1", name: "Van" }]);
    }
  });

  it("has quotes, and lines inside of them", () => {
    const { rows } = readCsv('id,name\n1,"A ""big"", \nvan"\n\n2,B');
    assert.deepEqual(rows, [
      { line: 2, values: { id: "1", name: 'A "big", \nvan' } },
      { line: 5, values: { id: "2", name: "B" } },
    ]);
  });

  it("has short rows, and values that a spreadsheet guarded", () => {
    assert.deepEqual(values("id,min\n1\n2,'+573001234567"), [
      { id: "1", min: "" },
      { id: "2", min: "+573001234567" },
    ]);
  });

  it("is nothing where the file is empty", () => {
    assert.deepEqual(readCsv("").rows, []);
  });
});

describe("a file's text", () => {
  it("is UTF-8, UTF-16 or Windows-1252", () => {
    assert.equal(decoded(new TextEncoder().encode("Bogotá")), "Bogotá");
    assert.equal(decoded(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61)), "a");
    assert.equal(decoded(Uint8Array.of(0xff, 0xfe, 0xe1, 0x00)), "á");
    assert.equal(decoded(Uint8Array.of(0xe1, 0x20)), "á ");
  });
});
