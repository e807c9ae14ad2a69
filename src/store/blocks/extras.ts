import { type ExtrasFacts, factsOf } from "../../fold/step.ts";
import { longestNumber, writeNumber } from "../../model/json-bytes.ts";
import { readableExtras } from "../../model/location-json.ts";
import { Piece, shortPiece } from "../records/piece.ts";
import type { ByteSink } from "../records/sink.ts";
import { BlockDamaged, type BodyReader, putSized, putVarint } from "./bytes.ts";
import { putNumbers, readConstant, readNumbers } from "./numbers.ts";
import { TextColumn, TextsRead } from "./texts.ts";

/*
 * The extras of a block's records. A record's extras are a shape and the values in the shape's gaps. The shape is the JSON text with one character, the gap, in place of
 * each number and of each text but "true" and "false". Values of the same name make one column, whatever their shapes. In a block's body (numbers are varints):
 *   the number of shapes; for each, its text after its length, and for each gap the index of its column
 *   the number of columns; for each, u8 kind, and the number of its values
 *   a column that has each record's shape; then the columns
 */
const numberGap = "\u0001";
const textGap = "\u0002";
const numberKind = 1;
const textKind = 2;

/** A member of the extras: its name, then a string, a number, or the first character of anything else. */
const member = /"(?:[^"\\]|\\.)*":(?:"((?:[^"\\]|\\.)*)"|(-?[\d.eE+-]+)|[^"\d-])/g;
/** A number without an exponent, with few enough digits for a column of numbers. */
const plainNumber = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?$/;

type Column =
  | { readonly kind: typeof numberKind; readonly place: number; readonly values: number[] }
  | { readonly kind: typeof textKind; readonly place: number; count: number; readonly texts: TextColumn };

interface Shape {
  readonly place: number;
  readonly columns: readonly Column[];
}

/** Gathers the extras of a block's records. */
export class ExtrasColumns {
  readonly #shapes = new Map<string, Shape>();
  readonly #columns = new Map<string, Column>();
  readonly #shapeOf: number[] = [];

  add(extras: string): void {
    const gaps: (number | string)[] = [];
    const names: string[] = [];
    let text = "";
    let from = 0;
    for (const { 0: all, 1: string, 2: number, index } of extras.matchAll(member)) {
      const value = string ?? number;
      if (value === undefined || value === "true" || value === "false") continue;
      const isNumber = plainNumber.test(value) && String(Number(value)) === value;
      // An unquoted number that would not be printed with the same digits again stays in the shape.
      if (string === undefined && !isNumber) continue;
      const end = index + all.length - (string === undefined ? 0 : 1);
      const begin = end - value.length;
      text += extras.slice(from, begin) + (isNumber ? numberGap : textGap);
      names.push((isNumber ? numberGap : textGap) + extras.slice(index, begin));
      gaps.push(isNumber ? Number(value) : value);
      from = end;
    }
    text += extras.slice(from);
    const shape = this.#shape(text, names);
    this.#shapeOf.push(shape.place);
    shape.columns.forEach((column, gap) => {
      const value = gaps[gap];
      if (column.kind === numberKind) column.values.push(Number(value));
      else {
        column.count++;
        column.texts.add(String(value));
      }
    });
  }

  #shape(text: string, names: readonly string[]): Shape {
    const known = this.#shapes.get(text);
    if (known !== undefined) return known;
    const shape = { place: this.#shapes.size, columns: names.map((name) => this.#column(name)) };
    this.#shapes.set(text, shape);
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
    putVarint(sink, this.#shapes.size);
    for (const [text, { columns }] of this.#shapes) {
      putSized(sink, Buffer.from(text));
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

/** A column as it is read, value after value. */
interface ColumnRead {
  readonly numbers: Float64Array | undefined;
  readonly texts: TextsRead | undefined;
  /** The value that all records share, as the JSON text has it. Undefined when the values differ. */
  readonly constant: Buffer | undefined;
  /** Index of the present record's value where the record's shape has this column. Otherwise the index of the next value. */
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
  /** What the fold needs of the extras. */
  readonly facts: ExtrasFacts;
  /** Whether a number of the extras is not finite. Such numbers are a part of the shape's text. */
  readonly hasNotFinite: boolean;
  /** Bytes to reserve for a record's extras without their texts. */
  readonly room: number;
}

/** The shape before the first record. */
const noShape: ShapeRead = { gaps: [], end: new Piece(""), facts: factsOf(""), hasNotFinite: false, room: 0 };

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

  /** What the fold needs of the present record's extras. */
  get facts(): ExtrasFacts {
    return this.#shape.facts;
  }

  /** Whether a number of the present record's extras is not finite. */
  get hasNotFinite(): boolean {
    return this.#shape.hasNotFinite;
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

/** Values that are the same in all records become part of the pieces: most of what a tracker reports beside its position seldom changes. */
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
  return { gaps, end, facts: factsOf(text), hasNotFinite: readableExtras(text) !== text, room };
}
