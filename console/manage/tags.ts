/** Tags as lines of "key: value". */
export function tagLines(tags: Readonly<Record<string, string>>): string {
  return Object.entries(tags)
    .map(([key, value]) => `${key}: ${value}`)
    .join("\n");
}

/** The tags of such lines. */
export function tagsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split("\n").flatMap((line) => {
      const at = line.indexOf(":");
      const key = (at < 0 ? line : line.slice(0, at)).trim();
      return key === "" ? [] : [[key, at < 0 ? "" : line.slice(at + 1).trim()]];
    }),
  );
}
