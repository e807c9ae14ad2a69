import { longestNumber, writeNumber } from "../../../model/json-bytes.ts";
import { Piece, shortPiece } from "../piece.ts";
import { recordFactsOf } from "../record-facts.ts";
import type { RecordFacts } from "../record-view.ts";
import type { ByteSink } from "../sink.ts";
import { BlockDamaged, type BodyReader, putSized, putVarint } from "./bytes.ts";
import { putNumbers, readConstant, readNumbers } from "./numbers.ts";
import { TextColumn, TextsRead } from "./texts.ts";

/*
 * The extras of a block's records. A record's extras are a shape and the values in the shape's gaps. The shape is the
 * JSON text with one character, the gap, in place of each number and of each text but "true" and "false". Values of the
 * same name make one column, whatever their shapes. In a block's body (numbers are varints):
 *   the number of shapes; for each, its text after its length, and for each gap the index of its column
 *   the number of columns; for each, u8 kind, and the number of its values
 *   a column that has each record's shape; then the columns
 */
const numberGap = "\u0001";
const textGap = "\u0002";
const numberKind = 1;
const textKind = 2;

const quote = 0x22;
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const colon = 0x3a;
const backslash = 0x5c;
/** Numbers with more digits, or more decimals, are texts. */
const mostDigits = 15;
const scales = Array.from({ length: 10 }, (_, decimals) => 10 ** decimals);

type Column =
  | { readonly kind: typeof numberKind; readonly place: number; readonly values: number[] }
  | { readonly kind: typeof textKind; readonly place: number; count: number; readonly texts: TextColumn };

interface Shape {
  readonly place: number;
  readonly text: Buffer;
  readonly columns: readonly Column[];
}

/** Gathers the extras of a block's records. */
export class ExtrasColumns {
  readonly #shapes: Shape[] = [];
  readonly #byHash = new Map<number, Shape>();
  readonly #columns = new Map<string, Column>();
  readonly #shapeOf: number[] = [];
  /** The present record's shape and the values in its gaps: buffers for all records. */
  #text = Buffer.alloc(1024);
  readonly #values: (number | string)[] = [];
  readonly #gap: Gap = { begin: 0, end: 0, next: 0, value: undefined };
  /** Whether reading gives back what was added: not where a gap's character is a part of the extras themselves. */
  comesBack = true;

  /** Adds the extras of the next record: the bytes [from, to) in UTF-8. */
  add(bytes: Buffer, from: number, to: number): void {
    // A gap may be longer than its value, which may be the empty text.
    if (this.#text.length < 2 * (to - from)) this.#text = Buffer.alloc(4 * (to - from));
    const [text, gap] = [this.#text, this.#gap];
    let length = 0;
    let hash = 0;
    let gaps = 0;
    gap.next = from;
    for (let kept = from; ; kept = gap.end) {
      findGap(gap, bytes, to);
      for (; kept < gap.begin; kept++) {
        const byte = bytes[kept] ?? 0;
        hash = (Math.imul(hash, 31) + byte) | 0;
        text[length++] = byte;
      }
      if (gap.value === undefined) break;
      const mark = gapOf(gap.value).charCodeAt(0);
      hash = (Math.imul(hash, 31) + mark) | 0;
      text[length++] = mark;
      this.#values[gaps++] = gap.value;
    }
    this.#put(this.#shape(hash, text.subarray(0, length), gaps));
  }

  #put({ place, columns }: Shape): void {
    this.#shapeOf.push(place);
    for (let gap = 0; gap < columns.length; gap++) {
      const column = columns[gap];
      const value = this.#values[gap];
      if (column?.kind === numberKind) column.values.push(Number(value));
      else if (column !== undefined) {
        column.count++;
        column.texts.add(String(value));
      }
    }
  }

  #shape(hash: number, text: Buffer, gaps: number): Shape {
    const known = this.#byHash.get(hash);
    if (known?.columns.length === gaps && known.text.equals(text)) return known;
    const pieces = piecesOf(text.toString());
    if (pieces.length !== gaps + 1) this.comesBack = false;
    const columns = Array.from({ length: gaps }, (_, gap) =>
      this.#column(gapOf(this.#values[gap]) + nameOf(pieces[gap] ?? "")),
    );
    const shape = { place: this.#shapes.length, text: Buffer.from(text), columns };
    this.#shapes.push(shape);
    this.#byHash.set(hash, shape);
    return shape;
  }

  #column(name: string): Column {
    const known = this.#columns.get(name);
    if (known !== undefined) return known;
    const place = this.#columns.size;
    const column: Column = name.startsWith(numberGap)
      ? { kind: numberKind, place, values: [] }
      : { kind: textKind, place, count: 0, texts: new TextColumn() };
    this.#columns.set(name, column);
    return column;
  }

  put(sink: ByteSink): void {
    putVarint(sink, this.#shapes.length);
    for (const { text, columns } of this.#shapes) {
      putSized(sink, text);
      for (const { place } of columns) putVarint(sink, place);
    }
    putVarint(sink, this.#columns.size);
    for (const column of this.#columns.values()) {
      sink.byte(column.kind);
      putVarint(sink, column.kind === numberKind ? column.values.length : column.count);
    }
    putNumbers(sink, this.#shapeOf);
    for (const column of this.#columns.values()) {
      if (column.kind === numberKind) putNumbers(sink, column.values);
      else column.texts.put(sink);
    }
  }
}

function gapOf(value: number | string | undefined): string {
  return typeof value === "number" ? numberGap : textGap;
}

/** The name in front of a gap. */
function nameOf(piece: string): string {
  return piece.slice(Math.max(piece.lastIndexOf(","), piece.lastIndexOf("{")) + 1);
}

/** The bytes [begin, end) that a gap takes the place of. */
interface Gap {
  begin: number;
  end: number;
  /** Where the next one is looked for. */
  next: number;
  value: number | string | undefined;
}

/** Finds the next value. Where there is none, its place is the end. */
function findGap(gap: Gap, bytes: Buffer, to: number): void {
  for (let at = gap.next; at < to; at++) {
    if (bytes[at] !== quote) continue;
    at = textEnd(bytes, at + 1, to);
    if (at + 2 >= to || bytes[at + 1] !== colon) continue;
    const isText = bytes[at + 2] === quote;
    gap.begin = at + (isText ? 3 : 2);
    gap.end = isText ? textEnd(bytes, gap.begin, to) : numberEnd(bytes, gap.begin, to);
    gap.next = isText ? gap.end + 1 : gap.end;
    gap.value =
      numberOf(bytes, gap.begin, gap.end) ?? (isText ? bytes.toString("utf8", gap.begin, gap.end) : undefined);
    if (gap.value !== undefined && gap.value !== "true" && gap.value !== "false") return;
    at = gap.next - 1;
  }
  gap.begin = gap.end = to;
  gap.value = undefined;
}

/** Where a text's closing quote is, or `to`. */
function textEnd(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return Math.min(at, to);
}

/** Where a number without quotes ends. */
function numberEnd(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && isOfNumber(bytes[at] ?? 0)) at++;
  return at;
}

/** Digits, signs, points and exponents. */
function isOfNumber(byte: number): boolean {
  return (byte >= zero && byte < colon) || byte === minus || byte === point || byte === 0x2b || (byte | 0x20) === 0x65;
}

/** A number without an exponent that is printed with the same digits again. */
function numberOf(bytes: Uint8Array, from: number, to: number): number | undefined {
  const begin = bytes[from] === minus ? from + 1 : from;
  let whole = 0;
  let wholeEnd = to;
  for (let at = begin; at < to; at++) {
    const digit = (bytes[at] ?? 0) - zero;
    if (digit >= 0 && digit <= 9) whole = whole * 10 + digit;
    else if (bytes[at] === point && wholeEnd === to && at > begin) wholeEnd = at;
    else return undefined;
    if (at - begin > mostDigits) return undefined;
  }
  const decimals = Math.max(0, to - wholeEnd - 1);
  const scale = scales[decimals];
  const digits = wholeEnd - begin + decimals;
  if (scale === undefined || digits === 0 || digits > mostDigits) return undefined;
  const isPadded = bytes[begin] === zero && wholeEnd > begin + 1;
  const isLonger = wholeEnd < to && (decimals === 0 || bytes[to - 1] === zero);
  if (isPadded || isLonger || (whole === 0 && begin > from)) return undefined;
  const value = whole / scale;
  // Smaller ones are printed with an exponent.
  if (value < 1e-6 && whole > 0) return undefined;
  return begin > from ? -value : value;
}

/** A column as it is read, value after value. */
interface ColumnRead {
  readonly numbers: Float64Array | undefined;
  readonly texts: TextsRead | undefined;
  /** The value that all records share, as the JSON text has it. Undefined when the values differ. */
  readonly constant: Buffer | undefined;
  /**
   * Index of the present record's value where the record's shape has this column. Otherwise the index of the next
   * value.
   */
  next: number;
}

function numbersOf(body: BodyReader, count: number): ColumnRead {
  const constant = readConstant(body, count);
  if (constant !== undefined)
    return { numbers: undefined, texts: undefined, constant: Buffer.from(String(constant)), next: 0 };
  return { numbers: readNumbers(body, count), texts: undefined, constant: undefined, next: 0 };
}

function textsOf(body: BodyReader, count: number): ColumnRead {
  const texts = new TextsRead(body, count);
  return { numbers: undefined, texts, constant: texts.only, next: 0 };
}

/** A gap of a shape whose values differ between records. */
interface GapRead {
  /** The bytes between the gap before and this one. */
  readonly before: Piece;
  readonly column: ColumnRead;
  /** How many earlier gaps of the shape have the same column: a name may stand twice. */
  readonly ahead: number;
}

/** A shape as it is read. */
interface ShapeRead {
  readonly gaps: readonly GapRead[];
  /** The bytes behind the last gap. */
  readonly end: Piece;
  /** Names, states and numbers that are not finite are part of the shape's text. */
  readonly facts: RecordFacts;
  /** Bytes to reserve for a record's extras without their texts. */
  readonly room: number;
}

/** The shape before the first record. */
const noShape: ShapeRead = { gaps: [], end: new Piece(""), facts: recordFactsOf(""), room: 0 };

/** Gives the extras of a block's records, one after the other. */
export class ExtrasRead {
  readonly #shapes: readonly ShapeRead[];
  readonly #shapeOf: Float64Array;
  /** Index of the next record, and the shape of the present one. */
  #next = 0;
  #shape = noShape;

  constructor(body: BodyReader, records: number) {
    const texts: { readonly text: string; readonly places: readonly number[] }[] = [];
    for (let left = body.count(); left > 0; left--) {
      const text = body.sized().toString();
      texts.push({ text, places: Array.from({ length: gapsOf(text) }, () => body.varint()) });
    }
    const kinds = Array.from({ length: body.count() }, () => ({ kind: body.byte(), count: body.varint() }));
    this.#shapeOf = readNumbers(body, records);
    const mostValues = records * mostGaps(texts);
    const columns = kinds.map(({ kind, count }): ColumnRead => {
      if (count > mostValues) throw new BlockDamaged("a column of a block is too long");
      return kind === numberKind ? numbersOf(body, count) : textsOf(body, count);
    });
    this.#shapes = texts.map(({ text, places }) => shapeOf(text, places, columns));
  }

  get facts(): RecordFacts {
    return this.#shape.facts;
  }

  /** Goes to the next record. */
  next(): void {
    for (const { column } of this.#shape.gaps) column.next++;
    const shape = this.#shapes[this.#shapeOf[this.#next++] ?? -1];
    if (shape === undefined) throw new BlockDamaged("a record's extras have no shape");
    this.#shape = shape;
  }

  /** Appends the present record's extras. */
  append(sink: ByteSink): void {
    const { gaps, end, room } = this.#shape;
    sink.reserve(room);
    let at = sink.length;
    for (const { before, column, ahead } of gaps) {
      const { numbers, texts, next } = column;
      at = before.write(sink, at);
      if (numbers !== undefined) at = writeNumber(sink.bytes, at, numbers[next + ahead] ?? 0);
      else if (texts !== undefined) {
        sink.length = at;
        sink.append(texts.at(next + ahead));
        sink.reserve(room);
        at = sink.length;
      }
    }
    sink.length = end.write(sink, at);
  }
}

/** The texts before, between and behind a shape's gaps. */
function piecesOf(text: string): readonly string[] {
  return text.replaceAll(textGap, numberGap).split(numberGap);
}

function gapsOf(text: string): number {
  return piecesOf(text).length - 1;
}

function mostGaps(texts: readonly { readonly places: readonly number[] }[]): number {
  return texts.reduce((most, { places }) => Math.max(most, places.length), 0);
}

/**
 * Values that are the same in all records become part of the pieces: most of what a tracker reports beside its position
 * seldom changes.
 */
function shapeOf(text: string, places: readonly number[], columns: readonly ColumnRead[]): ShapeRead {
  const gaps: GapRead[] = [];
  const seen = new Map<ColumnRead, number>();
  let parts: Buffer[] = [];
  for (const [gap, part] of piecesOf(text).entries()) {
    parts.push(Buffer.from(part));
    const place = places[gap];
    if (place === undefined) break;
    const column = columns[place];
    if (column === undefined) throw new BlockDamaged("a gap of a block has no column");
    if (column.constant !== undefined) parts.push(column.constant);
    else {
      const ahead = seen.get(column) ?? 0;
      seen.set(column, ahead + 1);
      gaps.push({ before: new Piece(Buffer.concat(parts)), column, ahead });
      parts = [];
    }
  }
  const end = new Piece(Buffer.concat(parts));
  const room = gaps.reduce((sum, { before }) => sum + before.length + longestNumber, end.length + shortPiece);
  return { gaps, end, facts: recordFactsOf(text), room };
}
