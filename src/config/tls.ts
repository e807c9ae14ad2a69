import Type, { type Static } from "typebox";
import { type About, optionalText } from "./kinds.ts";
import type { Problem } from "./problem.ts";

const followed = "Read again when it changes; a bad pair leaves the one before in use.";

/** HTTPS of the REST API. */
export const httpTls = Type.Object({
  certificate: optionalText({
    env: "WAYBEAM_HTTP_TLS_CERTIFICATE",
    maxLength: 4096,
    description: `File of the certificate for the REST API, with those between it and its authority (PEM): it speaks HTTPS then. Empty: HTTP. ${followed}`,
  }),
  key: optionalText({
    env: "WAYBEAM_HTTP_TLS_KEY",
    maxLength: 4096,
    description: "File of its private key (PEM).",
  }),
  minVersion: versions({
    env: "WAYBEAM_HTTP_TLS_MIN_VERSION",
    description: "The oldest version of TLS that clients may speak.",
  }),
});

/** TLS on the trackers' port, beside plain connections. */
export const deviceTls = Type.Object({
  certificate: optionalText({
    env: "WAYBEAM_DEVICE_TLS_CERTIFICATE",
    maxLength: 4096,
    description: `File of the certificate for trackers (PEM). With it a TCP connection that begins with a TLS handshake is TLS, any other is plain as ever. Empty: all are plain. ${followed}`,
  }),
  key: optionalText({
    env: "WAYBEAM_DEVICE_TLS_KEY",
    maxLength: 4096,
    description: "File of its private key (PEM).",
  }),
  minVersion: versions({
    env: "WAYBEAM_DEVICE_TLS_MIN_VERSION",
    description:
      "The oldest version of TLS that trackers may speak. Below TLSv1.2 for old trackers only: these versions and their ciphers are broken.",
  }),
});

function versions(about: About) {
  const names = [
    Type.Literal("TLSv1.2"),
    Type.Literal("TLSv1.3"),
    Type.Literal("TLSv1.1"),
    Type.Literal("TLSv1"),
  ] as const;
  return Type.Union([...names], { ...about, default: "TLSv1.2" });
}

/** What is wrong with the settings beyond each one by itself. */
export function tlsProblems(
  group: string,
  { certificate, key }: Static<typeof httpTls>,
): readonly Omit<Problem, "from">[] {
  if ((certificate === "") === (key === "")) return [];
  const missing = certificate === "" ? "certificate" : "key";
  const right = `${group}.certificate and ${group}.key must both be set, or none`;
  return [{ key: `${group}.${missing}`, wrong: "it is empty", right }];
}
