/** Made when the first text is too long: that takes 10 ms. */
let segmenter: Intl.Segmenter | undefined;

const dots = "...";

/**
 * A text of so many characters (UTF-16 units) at most: what is too long ends with "...", never within what a reader
 * sees as one character.
 */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const room = most - dots.length;
  if (room < 0) return "";
  // Only the place of the cut is looked at: to find all characters of a long text takes a hundred times as long, and
  // one report may raise a hundred alerts.
  return cut(text, segmentsOf(text).containing(room)?.index ?? 0);
}

/**
 * The longest beginning of a text that fits with "..." after it; the text itself where it fits; nothing where not even
 * the dots do.
 */
export function shortenedTo(text: string, fits: (candidate: string) => boolean): string {
  if (fits(text)) return text;
  const ends = [...segmentsOf(text)].map(({ index }) => index);
  let low = -1;
  let high = ends.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(cut(text, ends[middle]))) low = middle;
    else high = middle;
  }
  return low < 0 ? "" : cut(text, ends[low]);
}

function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(text);
}

function cut(text: string, end: number | undefined): string {
  return `${text.slice(0, end).trimEnd()}${dots}`;
}
