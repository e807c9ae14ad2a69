import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { protocols } from "../../src/protocols/index.ts";
import type { AnyProtocol } from "../../src/wire/protocol.ts";
import type { RecordedLine } from "./recorded/line.ts";
import { playAll, type Verdict } from "./recorded/play.ts";
import differences from "./vectors.differences.json" with { type: "json" };

/** A recorded line that we decode otherwise on purpose: the manual and its page say why. */
interface KnownDifference {
  readonly protocol: string;
  readonly unit: string;
  readonly seq: number;
  readonly reason: string;
}

/** Real messages, kept outside the repository since they name devices that exist. */
const folder = process.env.WAYBEAM_VECTORS ?? resolve(import.meta.dirname, "../../../shared/vectors");
const known: readonly KnownDifference[] = differences;

function read(protocol: AnyProtocol): readonly RecordedLine[] {
  return readFileSync(join(folder, `${protocol.id}.jsonl`), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): RecordedLine => JSON.parse(line));
}

function isKnown(protocol: AnyProtocol, { line }: Verdict): boolean {
  return known.some(({ protocol: id, unit, seq }) => id === protocol.id && unit === line.unit && seq === line.seq);
}

describe("recorded messages of real trackers", () => {
  for (const protocol of protocols) {
    const present = existsSync(join(folder, `${protocol.id}.jsonl`));
    it(`agree: ${protocol.id}`, {
      skip: present ? false : `no ${protocol.id}.jsonl in the folder of vectors`,
    }, (context) => {
      const verdicts = playAll(protocol, read(protocol));
      const compared = verdicts.filter((verdict) => verdict.differences !== undefined);
      const different = compared.filter((verdict) => verdict.differences?.length !== 0);
      const aside = verdicts.length - compared.length;
      context.diagnostic(
        `${protocol.id}: ${compared.length - different.length} of ${compared.length} agree` +
          (aside > 0 ? `, ${aside} have no counterpart here` : ""),
      );
      const unexpected = different.filter((verdict) => !isKnown(protocol, verdict));
      assert.deepEqual(
        unexpected.map(({ line, differences }) => `${line.unit} ${line.seq}: ${differences?.join("; ")}`),
        [],
        "lines that differ and are not in vectors.differences.json",
      );
      const settled = compared.filter((verdict) => verdict.differences?.length === 0 && isKnown(protocol, verdict));
      assert.deepEqual(
        settled.map(({ line }) => `${line.unit} ${line.seq}`),
        [],
        "lines of vectors.differences.json that agree by now",
      );
    });
  }

  it("are listed as different only with a reason, and only for protocols that are there", () => {
    for (const { protocol, reason } of known) {
      assert.ok(reason.length > 10, `${protocol}: a reason names the manual and the page`);
      assert.ok(
        protocols.some(({ id }) => id === protocol),
        `no protocol ${protocol}`,
      );
    }
  });
});
