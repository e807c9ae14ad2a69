import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { RecordedLine } from "./line.ts";

/** A recorded line that we decode otherwise on purpose: the manual and its page say why. */
export interface KnownDifference {
  readonly unit: string;
  readonly seq: number;
  readonly reason: string;
}

/**
 * What a protocol's lines need to be compared: `test/contract/differences/<id>.json`. Each protocol has a file of its
 * own, and none is needed where nothing is said.
 */
export interface Sheet {
  /** Names of its files in the folder of vectors; absent: its id. */
  readonly files?: readonly string[];
  /**
   * The text that a user gives for a command which the recordings only name, with their attributes in braces: `{
   * "engineStop": "RELAY,1", "sosNumber": "SOS{index}" }`.
   */
  readonly commands?: Readonly<Record<string, string>>;
  /**
   * The tag `format` of the device for a recorded `config` (as JSON text) that is neither `modelOverride` nor `form`
   * nor `format`.
   */
  readonly formats?: Readonly<Record<string, string>>;
  /**
   * Hex of escape sequences and of what they stand for, where the other server's framer takes them out and ours leaves
   * that to the decoder.
   */
  readonly escapes?: readonly (readonly [escaped: string, plain: string])[];
  /**
   * Bytes of replies that are not compared (negative: from the end), where that server fills them wrongly or by
   * messages that are not among the lines.
   */
  readonly replyBytes?: { readonly uncompared: readonly number[]; readonly reason: string };
  /** The recorded messages of decoders stand without their escapes, which are put in again. */
  readonly unescaped?: true;
  readonly known?: readonly KnownDifference[];
  /** Why more than 2 % of the lines are known differences. */
  readonly overLimit?: string;
}

/** Real messages, kept outside the repository since they name devices that exist. */
export const folder: string = process.env.WAYBEAM_VECTORS ?? resolve(import.meta.dirname, "../../../../shared/vectors");

/** The sheet of a protocol; an empty one where there is no file. */
export function sheetOf(id: string): Sheet {
  const file = join(import.meta.dirname, "../differences", `${id}.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
}

/** The recorded lines of a protocol; undefined where its files are not there. */
export function linesOf(id: string, { files = [id] }: Sheet): readonly RecordedLine[] | undefined {
  const paths = files.map((name) => join(folder, `${name}.jsonl`));
  if (!paths.every((path) => existsSync(path))) return undefined;
  return paths.flatMap((path) =>
    readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line): RecordedLine => JSON.parse(line)),
  );
}
