import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { csvText, readCsv } from "./csv.ts";
import { refusalOf, rowsOf, savedRows } from "./import.ts";

const schema = {
  properties: {
    id: { type: "string", pattern: "^[A-Za-z0-9.+-]{1,64}$" },
    name: { type: ["string", "null"], maxLength: 10 },
    milleageStart: { type: ["number", "null"], minimum: 0 },
  },
};

function rows(text: string, known: readonly string[] = []) {
  return rowsOf(readCsv(text), new Set(known), schema);
}

function problems(text: string, known?: readonly string[]) {
  return rows(text, known).map(({ problem }) => problem);
}

describe("rows of a file", () => {
  it("are devices; columns that are none of the API's are tags, in their own writing", () => {
    assert.deepEqual(rows("ID;Name;MilleageStart;aliases;Driver;\n1;Van;12.5;a b;Ana;\n2;;;;;"), [
      { line: 2, body: { id: "1", name: "Van", milleageStart: 12.5, aliases: ["a", "b"], tags: { Driver: "Ana" } } },
      { line: 3, body: { id: "2" } },
    ]);
  });

  it("have an id, once, that no device has and no spreadsheet has rounded", () => {
    assert.deepEqual(problems("id,name\n1,a\n,b\n1,c\n7,d\n4.90154E+14,e\n3,f,g", ["7"]), [
      undefined,
      { kind: "noId" },
      { kind: "repeated" },
      { kind: "known" },
      { kind: "rounded" },
      { kind: "cells" },
    ]);
  });

  it("have values that the API's document allows", () => {
    assert.deepEqual(problems("id,name,milleageStart\n1,much too long,1\n2,a,-1\n3,a,far\nä,a,1"), [
      { kind: "long", field: "name" },
      { kind: "low", field: "milleageStart" },
      { kind: "type", field: "milleageStart" },
      { kind: "form", field: "id" },
    ]);
  });

  it("may hold formulas, which stay texts", () => {
    assert.deepEqual(rows('id,plate\n1,"=HYPERLINK(""x"")"')[0]?.body.tags, { plate: '=HYPERLINK("x")' });
  });

  it("are saved with their problem, and read again without it", () => {
    const before = rows("id,aliases,plate\n1,a b,=1+1\n1,,");
    const { columns, cells } = savedRows(before, ({ problem }) => problem?.kind ?? "");
    const text = csvText(columns, cells);
    assert.equal(text, "id,aliases,plate,problem\r\n1,a b,'=1+1,\r\n1,,,repeated\r\n");
    assert.deepEqual(rows(text), before);
  });
});

describe("a file is refused", () => {
  it("without a column of ids, with a column twice, and without rows", () => {
    assert.deepEqual(refusalOf(readCsv("name\nx")), { kind: "noId" });
    assert.deepEqual(refusalOf(readCsv("id,Name,name\n1,a,b")), { kind: "twice", column: "name" });
    assert.deepEqual(refusalOf(readCsv("id,name\n\n")), { kind: "empty" });
    assert.equal(refusalOf(readCsv("id\n1")), undefined);
  });
});
