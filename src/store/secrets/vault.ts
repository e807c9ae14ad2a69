import { createCipheriv, createDecipheriv, createHash, createSecretKey, type KeyObject } from "node:crypto";
import type { Ids } from "../../ports/ids.ts";

/**
 * Seals what is secret before it is stored. `place` names the row and its purpose: a sealed text opens there and
 * nowhere else.
 */
export interface Vault {
  /** Name of the key that encrypts new texts. Empty when they are not encrypted. */
  readonly current: string;
  seal(text: string, place: string): string;
  /**
   * The text again; one that was never sealed is given back as it is. Throws where its key is not known, or it was
   * sealed for another place or changed.
   */
  open(stored: string, place: string): string;
}

/** Seals nothing: for tools and tests that keep no secrets. */
export const openVault: Vault = {
  current: "",
  seal: (text) => text,
  open(stored) {
    if (stored.startsWith(mark)) throw new Error("a secret of the database is sealed, and no key was given");
    return stored;
  },
};

/** Octets of a key: AES-256. */
export const keyBytes = 32;

/** A key and its name, which is the beginning of the key's hash. The name tells a wrong key from a damaged text. */
export interface SecretKey {
  readonly id: string;
  readonly bytes: Buffer;
}

/** Names a key. */
export function secretKey(bytes: Buffer): SecretKey {
  const id = createHash("sha256").update("waybeam secret key\0").update(bytes).digest("hex").slice(0, 16);
  return { id, bytes };
}

/** Begins every sealed text: `sealed.1.KEY.TEXT`. */
const mark = "sealed.1.";
const cipher = "aes-256-gcm";
/** 96 bits and random (NIST SP 800-38D, 8.2.2): one key may seal 2^32 texts, more than a century of notices. */
const nonceBytes = 12;
const tagBytes = 16;

/** Whether a text is sealed, by whatever key. */
export function isSealed(text: string): boolean {
  return text.startsWith(mark);
}

/** Whether a text is sealed by this key. */
export function isSealedBy(text: string, id: string): boolean {
  return text.startsWith(`${mark}${id}.`);
}

/** A vault that seals by the first of these keys and opens by any: AES-256-GCM, the place as associated data. */
export function createVault(keys: readonly [SecretKey, ...SecretKey[]], ids: Pick<Ids, "secret">): Vault {
  const [current] = keys;
  const byId = new Map<string, KeyObject>(keys.map(({ id, bytes }) => [id, createSecretKey(bytes)]));
  const sealing = byId.get(current.id) ?? createSecretKey(current.bytes);
  return {
    current: current.id,
    seal(text, place) {
      const nonce = Buffer.from(ids.secret(nonceBytes), "base64url");
      const work = createCipheriv(cipher, sealing, nonce, { authTagLength: tagBytes });
      work.setAAD(placeBytes(current.id, place));
      const sealed = Buffer.concat([nonce, work.update(text, "utf8"), work.final(), work.getAuthTag()]);
      return `${mark}${current.id}.${sealed.toString("base64url")}`;
    },
    open(stored, place) {
      if (!isSealed(stored)) return stored;
      const [id = "", text = ""] = stored.slice(mark.length).split(".");
      const key = byId.get(id);
      if (key === undefined) throw new Error(`a secret of the database is sealed by the key ${id}, which is not there`);
      const bytes = Buffer.from(text, "base64url");
      const work = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
      work.setAAD(placeBytes(id, place));
      work.setAuthTag(bytes.subarray(-tagBytes));
      return Buffer.concat([work.update(bytes.subarray(nonceBytes, -tagBytes)), work.final()]).toString("utf8");
    },
  };
}

function placeBytes(id: string, place: string): Buffer {
  return Buffer.from(`${id}\0${place}`, "utf8");
}
