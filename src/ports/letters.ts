import type { Letter } from "../model/letter.ts";

/** Tells users what happened to their way in. Nothing waits for a letter: what can't be sent is logged. */
export interface Letters {
  send(letter: Letter): void;
}
