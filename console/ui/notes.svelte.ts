import { type Problem, problemOf } from "../api/problem.ts";

/** What was done, or failed, for a moment at the edge of the page. */
export interface Note {
  readonly id: number;
  readonly text: string;
  readonly problem?: Problem;
  /** It stays until it is taken away. */
  readonly stays?: boolean;
}

/** More than these nobody reads. */
const most = 4;
const shownMs = 6000;

let notes = $state.raw<readonly Note[]>([]);
let last = 0;

/** The notes that are shown. */
export function shownNotes(): readonly Note[] {
  return notes;
}

function add(note: Omit<Note, "id">): void {
  last += 1;
  const id = last;
  notes = [...notes, { ...note, id }].slice(-most);
  if (note.problem === undefined && !note.stays) setTimeout(() => forget(id), shownMs);
}

/** Takes a note away. */
export function forget(id: number): void {
  notes = notes.filter((note) => note.id !== id);
}

/** Says what was done. */
export function say(text: string): void {
  add({ text });
}

/** Does something, and says where it fails; gives whether it went well. */
export async function doing(act: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await act();
    if (done !== undefined) say(done);
    return true;
  } catch (thrown) {
    add({ text: "", problem: problemOf(thrown) });
    return false;
  }
}

/** Says what the service warned of: it was done, and is probably not what was meant. */
export function sayWarnings({ warnings = [] }: { readonly warnings?: readonly string[] }): void {
  for (const text of warnings) add({ text, stays: true });
}
