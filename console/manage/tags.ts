/** A tag as a form has it. */
export interface TagRow {
  key: string;
  value: string;
}

/** Tags as rows of a form. */
export function tagRows(tags: Readonly<Record<string, string>>): TagRow[] {
  return Object.entries(tags).map(([key, value]) => ({ key, value }));
}

/** The tags of such rows. Rows without a key are none; of a key that is there twice the last counts. */
export function tagsOf(rows: readonly TagRow[]): Record<string, string> {
  return Object.fromEntries(rows.filter(({ key }) => key !== "").map(({ key, value }) => [key, value]));
}
