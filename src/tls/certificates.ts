import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { Certificate, CertificatePair } from "../ports/certificate.ts";
import type { Log } from "../ports/log.ts";

/** A certificate's files can't be used. */
export class CertificateUnusable extends Error {
  override readonly name = "CertificateUnusable";
}

/** Where a certificate (with those between it and its authority) and its key are, as PEM. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

/** How often the files are read, ms: they are small, and whoever renews them waits for nothing. */
const lookMs = 5000;

/** A certificate that follows its files. */
export interface WatchedCertificate extends Certificate {
  /** Reads the files now; resolves when a new pair is in use, or the old one is kept. */
  look(): Promise<void>;
  stop(): void;
}

/**
 * Reads a certificate and follows its files, by their contents: so it is one whether they are written, renamed or
 * reached by another link (certbot, Kubernetes). A pair that can't be used, half-written or of two renewals, leaves the
 * old one in place, which is said once. Rejects with `CertificateUnusable` where the first pair can't be used.
 */
export async function watchCertificate(files: CertificateFiles, log: Log): Promise<WatchedCertificate> {
  let pair = await readPair(files);
  let refused: string | undefined;
  const listeners: ((pair: CertificatePair) => void)[] = [];

  async function look(): Promise<void> {
    try {
      const read = await readPair(files);
      refused = undefined;
      if (read.cert === pair.cert && read.key === pair.key) return;
      for (const listener of listeners) listener(read);
      pair = read;
      log.info({ certificate: files.certificate }, "a new certificate is in use");
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (why !== refused) log.error({ error }, "the certificate's files can't be used; the one before stays in use");
      refused = why;
    }
  }

  const timer = setInterval(() => void look(), lookMs);
  timer.unref();
  return {
    get pair() {
      return pair;
    },
    onChange: (listener) => void listeners.push(listener),
    look,
    stop: () => clearInterval(timer),
  };
}

async function readPair({ certificate, key }: CertificateFiles): Promise<CertificatePair> {
  const pair = { cert: await read(certificate), key: await read(key) };
  try {
    createSecureContext(pair);
    // An empty file is none to the line above.
    if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key)))
      throw new Error("the key is not the certificate's");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CertificateUnusable(`can't use the certificate ${certificate} with the key ${key} (${why})`, {
      cause: error,
    });
  }
  return pair;
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : error;
    throw new CertificateUnusable(`can't read the certificate's file ${file} (${code})`, { cause: error });
  }
}
