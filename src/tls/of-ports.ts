import type { TlsOptions } from "../ports/certificate.ts";
import type { Log } from "../ports/log.ts";
import type { CertificateFiles } from "./certificates.ts";

/** TLS of one port, as it is configured. Without a certificate there is none. */
export type PortTls = CertificateFiles & Pick<TlsOptions, "minVersion">;

/** The certificates of both ports, where there are any; they are followed until `stop`. */
export async function certificatesOf(
  tls: { readonly http: PortTls; readonly device: PortTls },
  log: Log,
): Promise<{ readonly http: TlsOptions | undefined; readonly device: TlsOptions | undefined; stop(): void }> {
  const stops: (() => void)[] = [];
  const of = async ({ minVersion, ...files }: PortTls): Promise<TlsOptions | undefined> => {
    if (files.certificate === "") return undefined;
    const { watchCertificate } = await import("./certificates.ts");
    const certificate = await watchCertificate(files, log);
    stops.push(certificate.stop);
    return { certificate, minVersion };
  };
  const stop = () => {
    for (const one of stops) one();
  };
  return { http: await of(tls.http), device: await of(tls.device), stop };
}
