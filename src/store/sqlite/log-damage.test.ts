import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, describe, it } from "node:test";
import fc from "fast-check";
import { contentOfLog, type LogState } from "./log-damage.ts";

const pageSize = 512;
const frameBytes = 24 + pageSize;

describe("a damaged log", () => {
  const directory = mkdtempSync(join(tmpdir(), "waybeam-log-"));
  after(() => rmSync(directory, { recursive: true }));

  /** A log of commits, each of some frames; before them the database had as many others in an older log of the same file. */
  function logOf(older: number, commits: number): Buffer {
    const file = join(directory, `${older}-${commits}.db`);
    const database = new DatabaseSync(file);
    database.exec(`pragma page_size = ${pageSize}; pragma journal_mode = wal; pragma wal_autocheckpoint = 0`);
    database.exec("create table entry (text)");
    const insert = database.prepare("insert into entry values (?)");
    for (let each = 0; each < older; each++) insert.run("older ".repeat(200));
    database.exec("pragma wal_checkpoint(restart)");
    for (let each = 0; each < commits; each++) insert.run("newer ".repeat(150));
    const log = readFileSync(`${file}-wal`);
    database.close();
    return log;
  }

  /** Frames with the salts of the log's header. */
  function ownFrames(log: Buffer): number {
    let frames = 0;
    const isOwn = (at: number) => log.compare(log, 16, 24, at + 8, at + 16) === 0;
    while (32 + (frames + 1) * frameBytes <= log.length && isOwn(32 + frames * frameBytes)) frames++;
    return frames;
  }

  function stateOf(log: Buffer): LogState {
    const file = join(directory, "log");
    writeFileSync(file, log);
    return contentOfLog(file, pageSize).state;
  }

  const fresh = logOf(0, 12);
  const behind = logOf(20, 6);

  it("finds a log whole that ends with a frame or with the rest of an older log, and finds the end lost of one that ends within its own frame", () => {
    // In the other one the rest of an older log begins there.
    const ownEnds = [fresh.length, 32 + ownFrames(behind) * frameBytes];
    fc.assert(
      fc.property(fc.constantFrom(0, 1), fc.nat(), (which, at) => {
        const log = [fresh, behind][which] ?? assert.fail();
        const length = at % (log.length + 1);
        const isCut = length > 32 && (length - 32) % frameBytes !== 0 && length < (ownEnds[which] ?? 0);
        // Of less than a frame's salts nobody knows whose they are.
        const isNobodys = (length - 32) % frameBytes < 16;
        if (isCut || !isNobodys) assert.equal(stateOf(log.subarray(0, length)), isCut ? "cut short" : "whole");
      }),
    );
    assert.equal(stateOf(fresh), "whole");
    assert.equal(stateOf(behind), "whole");
  });

  it("can't be told from a last commit that was written in part, in any order of its pages, unless it is in the salts", () => {
    const last = lastFrames(fresh);
    fc.assert(
      fc.property(fc.integer({ min: last, max: fresh.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const isSalt = (at - 32) % frameBytes >= 8 && (at - 32) % frameBytes < 16;
        assert.equal(stateOf(flipped(fresh, at, flip)), isSalt ? "damaged" : "cut short");
      }),
    );
  });

  it("is one where any octet is another, with two commits or more behind it", () => {
    // Four commits from the end: what is damaged may be the end of the third one.
    const end = lastFrames(fresh, 4);
    fc.assert(
      fc.property(fc.integer({ min: 32, max: end - 1 }), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        assert.equal(stateOf(flipped(fresh, at, flip)), "damaged", `octet ${at}`);
      }),
    );
  });
});

function flipped(log: Buffer, at: number, flip: number): Buffer {
  const bytes = Buffer.from(log);
  bytes[at] = (bytes[at] ?? 0) ^ flip;
  return bytes;
}

/** Where the frames of the last commits begin. */
function lastFrames(log: Buffer, commits = 1): number {
  let left = commits + 1;
  for (let at = log.length - frameBytes; at >= 32; at -= frameBytes) {
    if (log.readUInt32BE(at + 4) !== 0) left--;
    if (left === 0) return at + frameBytes;
  }
  return 32;
}
