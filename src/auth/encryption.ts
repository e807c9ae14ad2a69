import {
  calculateJwkThumbprint,
  compactDecrypt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
} from "jose";
import type { AccountStore } from "../ports/store.ts";

/** What clients encrypt with, in this combination only. */
const alg = "RSA-OAEP-256";
const enc = "A256GCM";

/** Setting under which the key pair is kept. */
const settingName = "passwordKey";

/** A JWK set (RFC 7517) of one public key. */
export interface PublicKeys {
  readonly keys: readonly [
    {
      readonly kty: "RSA";
      readonly n: string;
      readonly e: string;
      readonly use: "enc";
      readonly alg: typeof alg;
      readonly kid: string;
    },
  ];
}

/** Decrypts what was encrypted for the service's own key. */
export interface Encryption {
  /** The text in a compact JWE for our key; undefined: the value is none; `failed`: it is one, and can't be decrypted. */
  decrypt(value: string): Promise<{ readonly text: string } | "failed" | undefined>;
  publicKeys(): Promise<PublicKeys>;
}

interface KeyPair {
  readonly secret: Awaited<ReturnType<typeof importJWK>>;
  readonly published: PublicKeys;
}

/** Over a key pair that is made when it is first needed, and kept in the settings. */
export function createEncryption(accounts: Pick<AccountStore, "setting" | "findSetting">): Encryption {
  let loaded: Promise<KeyPair> | undefined;

  function keyPair(): Promise<KeyPair> {
    loaded ??= load(accounts).catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  }

  return {
    async decrypt(value) {
      const header = headerOf(value);
      if (header === undefined) return undefined;
      const { secret, published } = await keyPair();
      if (header.kid !== undefined && header.kid !== published.keys[0].kid) return undefined;
      try {
        const options = { keyManagementAlgorithms: [alg], contentEncryptionAlgorithms: [enc] };
        const { plaintext } = await compactDecrypt(value, secret, options);
        const text = new TextDecoder("utf-8", { fatal: true }).decode(plaintext);
        return text === "" ? "failed" : { text };
      } catch {
        // Which step failed is nothing that a caller should learn.
        return "failed";
      }
    },
    publicKeys: async () => (await keyPair()).published,
  };
}

/** The header of a compact JWE in our form; undefined: the value is none, nor one that could be for our key. */
function headerOf(value: string): { readonly kid?: unknown } | undefined {
  if (!/^[\w-]+(?:\.[\w-]*){4}$/.test(value)) return undefined;
  try {
    const header = decodeProtectedHeader(value);
    return header.alg === alg && header.enc === enc && header.zip === undefined ? header : undefined;
  } catch {
    return undefined;
  }
}

async function load(accounts: Pick<AccountStore, "setting" | "findSetting">): Promise<KeyPair> {
  const made = (await accounts.findSetting(settingName)) ?? (await makeKey());
  // Of two nodes that make one at the same time, the first one's counts.
  const jwk: JWK = JSON.parse(await accounts.setting(settingName, () => made));
  const { n, e } = jwk;
  if (n === undefined || e === undefined) throw new Error("the setting of the key for passwords holds no RSA key");
  const kid = await calculateJwkThumbprint(jwk);
  const published = { keys: [{ kty: "RSA", n, e, use: "enc", alg, kid }] } as const;
  return { secret: await importJWK(jwk, alg), published };
}

async function makeKey(): Promise<string> {
  const { privateKey } = await generateKeyPair(alg, { modulusLength: 2048, extractable: true });
  return JSON.stringify(await exportJWK(privateKey));
}
