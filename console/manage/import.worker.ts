import type { ValueSchema } from "../api/document.ts";
import { type Encoding, encodingOf, isNoText, readCsv } from "./csv.ts";
import { type ImportRow, type Refusal, refusalOf, rowsOf } from "./import.ts";

/** What is asked: a file, and what is known to compare it with. */
export interface ImportRequest {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Unset: as they are found. */
  readonly encoding?: Encoding;
  readonly separator?: string;
  /** Ids of the devices that there are. */
  readonly known: readonly string[];
  readonly schema: ValueSchema;
}

/** What the file holds, or why it is refused. */
export interface ImportAnswer {
  readonly encoding: Encoding;
  readonly separator: string;
  readonly rows: readonly ImportRow[];
  readonly refusal?: Refusal;
}

self.onmessage = ({ data }: MessageEvent<ImportRequest>) => {
  self.postMessage(answerTo(data));
};

function answerTo({ bytes, known, schema, ...given }: ImportRequest): ImportAnswer {
  const encoding = given.encoding ?? encodingOf(bytes);
  if (isNoText(bytes)) return { encoding, separator: ",", rows: [], refusal: { kind: "noText" } };
  const csv = readCsv(new TextDecoder(encoding).decode(bytes), given.separator);
  const { separator } = csv;
  const refusal = refusalOf(csv);
  if (refusal !== undefined) return { encoding, separator, rows: [], refusal };
  return { encoding, separator, rows: rowsOf(csv, new Set(known), schema) };
}
