import { createCipheriv, createDecipheriv, createHash, createHmac } from "node:crypto";

/** What a cursor leads on through: the list's name and whose it is. */
export type ListScope = readonly (string | number)[];

const markBytes = 16;

/**
 * Places in lists as text for the API. They are encrypted, since a place is a key of the store that would tell how much
 * other accounts have, and bound to their list: a damaged one, and one of another list, is none. (The mark of scope and
 * place is the cipher's start value as well, as in RFC 5297.)
 */
export class ListCursors {
  readonly #marking: Buffer;
  readonly #hiding: Buffer;

  /** `secret`: the service's own, the same after a restart. */
  constructor(secret: string) {
    this.#marking = keyOf("mark", secret);
    this.#hiding = keyOf("hide", secret);
  }

  write(scope: ListScope, place: string): string {
    const mark = this.#mark(scope, place);
    const cipher = createCipheriv("aes-256-ctr", this.#hiding, mark);
    return Buffer.concat([mark, cipher.update(place, "utf8"), cipher.final()]).toString("base64url");
  }

  /** The place; undefined: no cursor of ours, or one of another list. */
  read(scope: ListScope, text: string): string | undefined {
    const bytes = Buffer.from(text, "base64url");
    if (bytes.length <= markBytes || bytes.toString("base64url") !== text) return undefined;
    const mark = bytes.subarray(0, markBytes);
    const cipher = createDecipheriv("aes-256-ctr", this.#hiding, mark);
    const place = Buffer.concat([cipher.update(bytes.subarray(markBytes)), cipher.final()]).toString("utf8");
    return this.#mark(scope, place).equals(mark) ? place : undefined;
  }

  #mark(scope: ListScope, place: string): Buffer {
    return createHmac("sha256", this.#marking)
      .update(JSON.stringify([...scope, place]))
      .digest()
      .subarray(0, markBytes);
  }
}

function keyOf(use: string, secret: string): Buffer {
  return createHash("sha256").update(`${use} ${secret}`).digest();
}
