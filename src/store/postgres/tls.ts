import { readFileSync } from "node:fs";
import type { ClientConfig } from "pg";
import type { DatabaseProblem } from "./unusable.ts";

/** libpq's modes, https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-SSLMODE-STATEMENTS. */
export const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;
/** How a connection is encrypted, and what of the server is checked. */
export type SslMode = (typeof sslModes)[number];

/** Files that the address names. */
export interface TlsFiles {
  /** Certificates of authorities; `system`: those that the runtime trusts. */
  readonly root: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

/** What `pg` is told to do, and whether a server without TLS is accepted as well. */
export interface Tls {
  readonly ssl: Exclude<ClientConfig["ssl"], undefined>;
  readonly mayBePlain: boolean;
}

/** What a mode means. `allow` works like `prefer`: TLS if the server has it. */
export function tlsOf(
  mode: SslMode,
  files: TlsFiles,
  host: string,
): Tls | { readonly problems: readonly DatabaseProblem[] } {
  // As in libpq: nobody can listen between a program and a socket of its own machine.
  if (mode === "disable" || host.startsWith("/")) return { ssl: false, mayBePlain: true };
  const problems: DatabaseProblem[] = [];
  const read = (parameter: string, file: string | undefined) => {
    if (file === undefined) return undefined;
    try {
      return readFileSync(file, "utf8");
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : error;
      problems.push({
        wrong: `The file ${file} of the parameter ${parameter} can't be read (${code})`,
        advice: "Name a file that the service may read.",
      });
      return undefined;
    }
  };
  const ca = files.root === "system" ? undefined : read("sslrootcert", files.root);
  const cert = read("sslcert", files.certificate);
  const key = read("sslkey", files.key);
  const [given, missing] = files.key === undefined ? ["sslcert", "sslkey"] : ["sslkey", "sslcert"];
  if ((files.certificate === undefined) !== (files.key === undefined))
    problems.push({
      wrong: `The address of the database has the parameter ${given}, and not ${missing}`,
      advice: `Add ${missing}, or remove ${given}: a certificate is used together with its key.`,
    });
  if (problems.length > 0) return { problems };
  // `require` checks the certificate if authorities are given, as in libpq.
  const isChecked = mode.startsWith("verify-") || (mode === "require" && files.root !== undefined);
  const ssl = {
    rejectUnauthorized: isChecked,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(isChecked && mode !== "verify-full" && { checkServerIdentity: () => undefined }),
  };
  return { ssl, mayBePlain: mode === "allow" || mode === "prefer" };
}
