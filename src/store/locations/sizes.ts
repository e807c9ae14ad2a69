/**
 * The most records of a block. With twice as many, blocks would take 3 % less room. But to look around a late report opens a whole block (0.2 ms), and what the report
 * changes may cause one to be packed anew (8 ms).
 */
export const blockRecords = 512;
/** A block ends with the record that brings its records to this many bytes before packing: records with long texts make small blocks. */
export const blockBytes = 384 * 1024;
/** From this many records or bytes on, a block is full: to pack it together with others would save little. */
export const fullRecords = blockRecords / 2;
export const fullBytes = blockBytes / 2;

/** Whether a block with this many records and bytes is full. */
export function isFull(records: number, bytes: number): boolean {
  return records >= fullRecords || bytes >= fullBytes;
}

/** How much one step takes. Its last chunk may reach past that. */
export interface Most {
  readonly records: number;
  readonly bytes: number;
}

/** No row has a higher number: at a million rows a second, it takes a hundred years to get there. */
export const mostSeq = 2 ** 52;
