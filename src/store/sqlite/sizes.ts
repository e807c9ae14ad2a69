/** Most records of a block. A larger one takes little less room, and a reader of a few records unpacks a whole block: under a millisecond. */
export const blockRecords = 1024;
/** And their bytes before they are packed, but for one record that is larger by itself: records with long texts make small blocks. */
export const blockBytes = 768 * 1024;
/** A block of so many records, or so many bytes, is left as it is: putting it together with others would gain little. */
export const fullRecords = blockRecords / 2;
export const fullBytes = blockBytes / 2;
