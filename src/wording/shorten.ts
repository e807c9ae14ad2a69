/** Made when the first text is too long: that takes 10 ms. */
let segmenter: Intl.Segmenter | undefined;

/** A text of so many characters (UTF-16 units) at most: what is too long ends with "...", never within what a reader sees as one character. */
export function shortened(text: string, most: number): string {
  return shortenedTo(text, (candidate) => candidate.length <= most);
}

/** The longest beginning of a text that fits with "..." after it; the text itself where it fits; nothing where not even the dots do. */
export function shortenedTo(text: string, fits: (candidate: string) => boolean): string {
  if (fits(text)) return text;
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  const ends = [...segmenter.segment(text)].map(({ index }) => index);
  let low = -1;
  let high = ends.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(cut(text, ends[middle]))) low = middle;
    else high = middle;
  }
  return low < 0 ? "" : cut(text, ends[low]);
}

function cut(text: string, end: number | undefined): string {
  return `${text.slice(0, end).trimEnd()}...`;
}
