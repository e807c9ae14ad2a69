/**
 * Most records of a block. Twice as many would take 3 % less room; but who looks for what surrounds a late report opens a whole block, and what the report changes packs
 * one anew: 0.2 and 8 ms.
 */
export const blockRecords = 512;
/** And their bytes before they are packed, but for one record that is larger by itself: records with long texts make small blocks. */
export const blockBytes = 384 * 1024;
/** From so many records on, or so many bytes, a block is full: putting it together with others would gain little. */
export const fullRecords = blockRecords / 2;
export const fullBytes = blockBytes / 2;

/** Whether a block of so many records and bytes is full. */
export function isFull(records: number, bytes: number): boolean {
  return records >= fullRecords || bytes >= fullBytes;
}
