import type { Attributes } from "../../model/effects.ts";
import { type FlagReading, isInRange, type NumberReading, type ReadingsDraft } from "../../model/readings.ts";

/** Attributes while a record is read. */
export type MutableAttributes = { -readonly [K in keyof Attributes]: Attributes[K] };

/** What the IO elements of one record add up to; the parser makes a fresh pair of objects for each record. */
export interface Sink {
  readings: ReadingsDraft;
  attributes: MutableAttributes;
  /** First half of an ICCID that waits for the second. */
  iccidHigh: string | undefined;
}

/** How an IO element's value lies in the record: signed or unsigned, its width in bytes. */
export type NumberFormat = "u1" | "s1" | "u2" | "s2" | "u4" | "s4";

/**
 * One row of an AVL ID table: an element of 1, 2 or 4 bytes. All have the same shape, as this is read for each element
 * of each record.
 */
export interface Element {
  readonly id: number;
  readonly width: 1 | 2 | 4;
  readonly signed: boolean;
  /** The value in our unit is raw * times / per: whole numbers, so that 12,682 mV is 12.682 V and not nearly so. */
  readonly times: number;
  readonly per: number;
  readonly number: NumberReading | undefined;
  readonly flag: FlagReading | undefined;
  /** Name in `attributes`; also where the reading is already taken by an element before it, or can't have the value. */
  readonly attribute: string;
  /**
   * Raw values outside of this range, and those in `errors`, are error codes of the manual: the value is then absent.
   */
  readonly min: number;
  readonly max: number;
  readonly errors: readonly number[] | undefined;
}

interface Limits {
  readonly min?: number;
  readonly max?: number;
  readonly errors?: readonly number[];
}

/** `per`: what the raw value is divided by; 1/60 for one that is multiplied by 60. */
function element(
  id: number,
  format: NumberFormat,
  per: number,
  target: { number?: NumberReading; flag?: FlagReading; attribute?: string },
  limits: Limits = {},
): Element {
  const width = format.endsWith("1") ? 1 : format.endsWith("2") ? 2 : 4;
  return Object.freeze({
    id,
    width,
    signed: format.startsWith("s"),
    times: per < 1 ? Math.round(1 / per) : 1,
    per: Math.max(per, 1),
    number: target.number,
    flag: target.flag,
    attribute: target.attribute ?? `io${id}`,
    min: limits.min ?? Number.NEGATIVE_INFINITY,
    max: limits.max ?? Number.POSITIVE_INFINITY,
    errors: limits.errors,
  });
}

/**
 * Rows whose values are readings. A pair names the attribute for the case that another element has given the reading
 * before.
 */
export function numbers(
  format: NumberFormat,
  per: number,
  rows: { readonly [id: number]: NumberReading | readonly [NumberReading, string] },
  limits?: Limits,
): Element[] {
  return Object.entries(rows).map(([id, row]) => {
    const [number, attribute] = typeof row === "string" ? [row] : row;
    return element(Number(id), format, per, attribute === undefined ? { number } : { number, attribute }, limits);
  });
}

/** Rows of one or two bytes where anything but 0 is "yes". */
export function flags(format: "u1" | "u2", rows: { readonly [id: number]: FlagReading }): Element[] {
  return Object.entries(rows).map(([id, flag]) => element(Number(id), format, 1, { flag }));
}

/** Rows whose values are attributes under the manual's names. */
export function attributes(
  format: NumberFormat,
  per: number,
  rows: { readonly [id: number]: string },
  limits?: Limits,
): Element[] {
  return Object.entries(rows).map(([id, attribute]) => element(Number(id), format, per, { attribute }, limits));
}

/** `name1` to `nameN` for consecutive ids from `first` on. */
export function series(first: number, name: string, count: number): { [id: number]: string } {
  const rows: { [id: number]: string } = {};
  for (let index = 0; index < count; index++) rows[first + index] = `${name}${index + 1}`;
  return rows;
}

/** Ids below this are looked up in an array; the few above in a map. */
const arrayIds = 512;

/** Elements of one width by id. */
export class ElementTable {
  readonly #low: (Element | undefined)[] = new Array<Element | undefined>(arrayIds).fill(undefined);
  readonly #high = new Map<number, Element>();

  get(id: number): Element | undefined {
    return id < arrayIds ? this.#low[id] : this.#high.get(id);
  }

  /** Adds a row, unless its id has one already. */
  offer(row: Element): void {
    if (this.get(row.id) !== undefined) return;
    if (row.id < arrayIds) this.#low[row.id] = row;
    else this.#high.set(row.id, row);
  }
}

/** The AVL ID tables of a family of models, by width: an id that means two things usually differs in its width. */
export interface Family {
  readonly one: ElementTable;
  readonly two: ElementTable;
  readonly four: ElementTable;
}

/** Builds a family from lists of rows; where two have the same id and width, the list named first wins. */
export function family(...lists: readonly (readonly Element[])[]): Family {
  const built = { one: new ElementTable(), two: new ElementTable(), four: new ElementTable() };
  for (const row of lists.flat()) (row.width === 1 ? built.one : row.width === 2 ? built.two : built.four).offer(row);
  return Object.freeze(built);
}

/** Puts one value where its row says. */
export function put(row: Element, raw: number, sink: Sink): void {
  if (raw < row.min || raw > row.max || row.errors?.includes(raw)) return;
  const { number, flag } = row;
  if (flag !== undefined) {
    sink.readings[flag] = raw !== 0;
    return;
  }
  const value = (raw * row.times) / row.per;
  if (number !== undefined && sink.readings[number] === undefined && isInRange(number, value))
    sink.readings[number] = value;
  else sink.attributes[row.attribute] = value;
}

const lowNames: string[] = Array.from({ length: arrayIds }, (_, id) => `io${id}`);

/** The attribute of an element that no table knows. */
export function unknownName(id: number): string {
  return lowNames[id] ?? `io${id}`;
}
