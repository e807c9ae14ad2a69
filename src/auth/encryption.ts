import type { CryptoKey, JWK, KeyObject, ProtectedHeaderParameters } from "jose";
import type { AccountStore } from "../ports/store.ts";

/** What clients encrypt with, in this combination only. */
const alg = "RSA-OAEP-256";
const enc = "A256GCM";

/** The library, loaded by the first call that needs it: most services never do, and it takes some MB. */
const library = () => import("jose");

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
  /**
   * The text in a compact JWE (RFC 7516, 7.1) for our key. Undefined: the value is none. `refused`: it is one and gives
   * no text, and why, to be read after what it is called; whoever sent it never meant its letters.
   */
  decrypt(value: string): Promise<{ readonly text: string } | { readonly refused: string } | undefined>;
  publicKeys(): Promise<PublicKeys>;
}

type ProtectedHeader = ProtectedHeaderParameters;

interface KeyPair {
  readonly secret: CryptoKey | KeyObject | Uint8Array;
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
      const header = await headerOf(value);
      if (header === undefined) return undefined;
      const { secret, published } = await keyPair();
      const refused = refusal(header, published.keys[0].kid);
      if (refused !== undefined) return { refused };
      try {
        const options = { keyManagementAlgorithms: [alg], contentEncryptionAlgorithms: [enc] };
        const { compactDecrypt } = await library();
        const { plaintext } = await compactDecrypt(value, secret, options);
        const text = new TextDecoder("utf-8", { fatal: true }).decode(plaintext);
        return text === "" ? { refused: "can't be decrypted" } : { text };
      } catch {
        // Which step failed is nothing that a caller should learn.
        return { refused: "can't be decrypted" };
      }
    },
    publicKeys: async () => (await keyPair()).published,
  };
}

/** The header of a compact JWE, for whatever key and in whatever form; undefined: the value is none. */
async function headerOf(value: string): Promise<ProtectedHeader | undefined> {
  if (value.split(".", 6).length !== 5) return undefined;
  const { decodeProtectedHeader } = await library();
  try {
    const header = decodeProtectedHeader(value);
    return header.alg !== undefined && header.enc !== undefined ? header : undefined;
  } catch {
    return undefined;
  }
}

/** Why a JWE is not tried: what its header, which anybody can read, says. */
function refusal(header: ProtectedHeader, kid: string): string | undefined {
  if (header.alg !== alg || header.enc !== enc) return `is a JWE in another form than ${alg} and ${enc}`;
  if (header.zip !== undefined) return "is a JWE whose text is compressed";
  if (header.kid !== undefined && header.kid !== kid)
    return "is a JWE for another key (kid) than the one at /.well-known/jwks.json";
  return undefined;
}

async function load(accounts: Pick<AccountStore, "setting" | "findSetting">): Promise<KeyPair> {
  const { calculateJwkThumbprint, importJWK } = await library();
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
  const { exportJWK, generateKeyPair } = await library();
  const { privateKey } = await generateKeyPair(alg, { modulusLength: 2048, extractable: true });
  return JSON.stringify(await exportJWK(privateKey));
}
