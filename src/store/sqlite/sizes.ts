/**
 * Most records of a block. Twice as many would take 3 % less room; but who looks for what surrounds a late report opens a whole block, and what the report changes packs
 * one anew: 0.2 and 8 ms.
 */
export const blockRecords = 512;
/** And their bytes before they are packed, but for one record that is larger by itself: records with long texts make small blocks. */
export const blockBytes = 384 * 1024;
/** A block of so many records, or so many bytes, is left as it is: putting it together with others would gain little. */
export const fullRecords = blockRecords / 2;
export const fullBytes = blockBytes / 2;
