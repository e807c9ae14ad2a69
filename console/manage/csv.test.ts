import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { csvText, encodingOf, isNoText, readCsv } from "./csv.ts";

function values(text: string, separator?: string) {
  return readCsv(text, separator).rows.map((row) => row.values);
}

describe("CSV", () => {
  it("is read with whatever separates its first line", () => {
    for (const separator of [",", ";", "\t", "|"]) {
      const text = ["id", "name"].join(separator).concat("\r\n", ["1", "Van"].join(separator), "\r\n");
      assert.deepEqual(values(text), [{ id: "1", name: "Van" }]);
    }
    assert.deepEqual(values("sep=;\nid;na,me\n1;a"), [{ id: "1", "na,me": "a" }]);
    assert.deepEqual(values("id,name;x\n1,a;b", ";"), [{ "id,name": "1,a", x: "b" }]);
  });

  it("has quotes, and lines inside of them", () => {
    const { rows } = readCsv('id,name\n1,"A ""big"", \r\nvan"\n\n2,B');
    assert.deepEqual(rows, [
      { line: 2, values: { id: "1", name: 'A "big", \r\nvan' } },
      { line: 5, values: { id: "2", name: "B" } },
    ]);
  });

  it("tells rows with too many cells, and a quote that is not closed", () => {
    const { rows } = readCsv('id,name\n1,a,b\n2,a,,\n3,"b\n4,c');
    assert.deepEqual(
      rows.map(({ line, problem }) => [line, problem]),
      [
        [2, "cells"],
        [3, undefined],
        [4, "quote"],
      ],
    );
  });

  it("has short rows, and values that a spreadsheet guarded", () => {
    assert.deepEqual(values('id,min\n1\n2,\'+573001234567\n"=""0042""",\'=1+1'), [
      { id: "1", min: "" },
      { id: "2", min: "+573001234567" },
      { id: "0042", min: "=1+1" },
    ]);
  });

  it("has lines that end as they did on old Macs", () => {
    const { rows } = readCsv("id\r1\r2");
    assert.deepEqual(
      rows.map(({ line, values: { id } }) => [line, id]),
      [
        [2, "1"],
        [3, "2"],
      ],
    );
  });

  it("is nothing where the file is empty, and takes names of properties for names", () => {
    assert.deepEqual(readCsv("").rows, []);
    assert.deepEqual(Object.keys(values("id,__proto__\n1,x")[0] ?? {}), ["id", "__proto__"]);
  });

  it("is written so that it is read again, and no spreadsheet runs it", () => {
    const text = csvText(
      ["id", "name"],
      [
        ["1", '=HYPERLINK("x")'],
        ["2", "a\r\nb,c"],
      ],
    );
    assert.equal(text, 'id,name\r\n1,"\'=HYPERLINK(""x"")"\r\n2,"a\r\nb,c"\r\n');
    assert.deepEqual(values(text), [
      { id: "1", name: '=HYPERLINK("x")' },
      { id: "2", name: "a\r\nb,c" },
    ]);
  });
});

describe("a file's bytes", () => {
  const utf8 = (text: string) => new TextEncoder().encode(text);

  it("are UTF-8, UTF-16 or Windows-1252", () => {
    assert.equal(encodingOf(utf8("Bogotá")), "utf-8");
    assert.equal(encodingOf(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61)), "utf-8");
    assert.equal(encodingOf(Uint8Array.of(0xff, 0xfe, 0xe1, 0x00)), "utf-16le");
    assert.equal(encodingOf(Uint8Array.of(0x69, 0x00, 0x64, 0x00)), "utf-16le");
    assert.equal(encodingOf(Uint8Array.of(0x00, 0x69, 0x00, 0x64)), "utf-16be");
    assert.equal(encodingOf(Uint8Array.of(0xe1, 0x20)), "windows-1252");
  });

  it("are no text where they are a workbook, or have zeros", () => {
    assert.equal(isNoText(Uint8Array.of(0x50, 0x4b, 3, 4, 0, 0)), true);
    assert.equal(isNoText(Uint8Array.of(0x69, 0, 0, 0x64)), true);
    assert.equal(isNoText(Uint8Array.of(0x69, 0x00, 0x64, 0x00)), false);
    assert.equal(isNoText(utf8("id,name")), false);
  });
});
