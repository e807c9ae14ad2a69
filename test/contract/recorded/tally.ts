import type { AnyProtocol } from "../../../src/wire/protocol.ts";
import { playAll, type Verdict } from "./play.ts";
import { type KnownDifference, linesOf, sheetOf } from "./sheet.ts";

/** How a protocol's recorded lines compare. */
export interface Tally {
  readonly verdicts: readonly Verdict[];
  /** Lines that we have a counterpart for. */
  readonly compared: readonly Verdict[];
  readonly agreed: readonly Verdict[];
  /** Lines that differ and are not known to. */
  readonly differ: readonly Verdict[];
  readonly known: readonly KnownDifference[];
  /** Known differences that are none any more, or whose line is not there. */
  readonly settled: readonly KnownDifference[];
}

/** Plays a protocol's recorded lines; undefined where its files are not there. */
export function tallyOf(protocol: AnyProtocol): Tally | undefined {
  const sheet = sheetOf(protocol.id);
  const lines = linesOf(protocol.id, sheet);
  if (lines === undefined) return undefined;
  const verdicts = playAll(protocol, lines, sheet);
  const compared = verdicts.filter(({ differences }) => differences !== undefined);
  const agreed = compared.filter(({ differences }) => differences?.length === 0);
  const known = sheet.known ?? [];
  const isKnown = ({ line }: Verdict) => known.some(({ unit, seq }) => unit === line.unit && seq === line.seq);
  const different = compared.filter(({ differences }) => differences?.length !== 0);
  return {
    verdicts,
    compared,
    agreed,
    differ: different.filter((verdict) => !isKnown(verdict)),
    known,
    settled: known.filter(({ unit, seq }) => !different.some(({ line }) => line.unit === unit && line.seq === seq)),
  };
}

/** Most lines of a protocol that may differ on purpose: 2 %, but one of a short file. */
export function mostKnown({ compared }: Tally): number {
  return Math.max(1, Math.floor(compared.length * 0.02));
}

/** One line of the table: protocol, agreed, differs, known. */
export function rowOf(id: string, { verdicts, compared, agreed, differ, known }: Tally): string {
  const readings = compared.map((verdict) => verdict.readings);
  const right = readings.reduce((sum, tally) => sum + tally.agreed, 0);
  const wrong = readings.reduce((sum, { differ }) => sum + differ.length, 0);
  const aside = verdicts.length - compared.length;
  const unsummed = compared.filter((verdict) => verdict.unsummed).length;
  return (
    `${id.padEnd(12)} agreed ${agreed.length} of ${compared.length}, differs ${differ.length}, known ${known.length}; ` +
    `readings ${right} of ${right + wrong}` +
    (aside > 0 ? `; no counterpart ${aside}` : "") +
    (unsummed > 0 ? `; wrong checksums ${unsummed}` : "")
  );
}
