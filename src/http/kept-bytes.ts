import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";

/** The content codings (RFC 9110, 8.4.1) that bytes are given in, the smallest first. */
const codings = { br: promisify(brotliCompress), gzip: promisify(gzip) } as const;
/** Name of a coding. */
export type Coding = keyof typeof codings;

/** Fewer bytes are sent as they are. */
const worthCoding = 1024;

/** Bytes that are sent many times: compressed once for each coding that somebody takes, and kept. */
export class KeptBytes {
  readonly #plain: Buffer;
  readonly #coded = new Map<Coding, Promise<Buffer>>();

  constructor(plain: Buffer) {
    this.#plain = plain;
  }

  /** The bytes in the smallest coding that an `Accept-Encoding` takes. Without `coding` they are plain. */
  async for(accepted: string | undefined): Promise<{ readonly coding?: Coding; readonly bytes: Buffer }> {
    const coding = this.#plain.length < worthCoding ? undefined : codingOf(accepted);
    if (coding === undefined) return { bytes: this.#plain };
    const coded = this.#coded.get(coding) ?? codings[coding](this.#plain);
    this.#coded.set(coding, coded);
    return { coding, bytes: await coded };
  }
}

/**
 * The smallest coding that an `Accept-Encoding` names with a weight above 0 (RFC 9110, 12.5.3). Weights otherwise make
 * no difference.
 */
export function codingOf(accepted = ""): Coding | undefined {
  const taken = new Set(
    accepted
      .toLowerCase()
      .split(",")
      .map((item) => item.replaceAll(/\s/g, ""))
      .filter((item) => !/;q=0(?:\.0*)?$/.test(item))
      .map((item) => item.split(";", 1)[0]),
  );
  return (Object.keys(codings) as Coding[]).find((coding) => taken.has(coding));
}
