/** A certificate and its private key, as PEM. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

/** The present pair of a pair of files. */
export interface Certificate {
  readonly pair: CertificatePair;
  /** Calls with each pair that replaces the one before. */
  onChange(listener: (pair: CertificatePair) => void): void;
}

/** TLS on a port of ours. */
export interface TlsOptions {
  readonly certificate: Certificate;
  /** The oldest version that is spoken. */
  readonly minVersion: "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";
}
