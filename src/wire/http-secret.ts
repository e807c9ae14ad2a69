import type { HttpRequest, Parameters } from "./http.ts";
import type { SecretPlace } from "./protocol.ts";
import { bytesOfLatin1, latin1Of } from "./reader.ts";

/** The parameter that carries it; apps let their users write the address that they report to. */
const parameter = "secret";

/**
 * The password or key that a request carries: the parameter of its query or form, else the password of Basic or the
 * token of Bearer authorization (RFC 7617, RFC 6750), which apps send for an address such as
 * `https://user:password@host`.
 */
export function secretOf(parameters: Parameters, { headers }: HttpRequest): string | undefined {
  return parameters.get(parameter)?.at(-1) ?? authorizationOf(headers.get("authorization") ?? "");
}

function authorizationOf(header: string): string | undefined {
  const [, scheme = "", credentials = ""] = /^(basic|bearer) +(\S+)$/i.exec(header) ?? [];
  if (scheme.toLowerCase() === "bearer") return credentials;
  if (scheme === "") return undefined;
  try {
    const text = new TextDecoder().decode(Uint8Array.fromBase64(credentials));
    const colon = text.indexOf(":");
    return colon < 0 ? undefined : text.slice(colon + 1);
  } catch {
    return undefined;
  }
}

/** A name and its value where a query or a form may have them. */
const pairs = /(?<=[?&\s]|^)([^=&?\s]{1,64})=([^&\s]*)/g;
const authorization = /^(authorization[ \t]*:)(.*)$/gim;
const chunked = /^transfer-encoding[ \t]*:/im;

/** Masks the parameter and the header; the whole body where it comes in chunks, which may cut the parameter's name. */
function mask(message: Uint8Array): Uint8Array {
  const text = latin1Of(message);
  const end = text.indexOf("\r\n\r\n");
  const body = end < 0 ? text.length : end + 4;
  const head = masked(text.slice(0, body)).replace(
    authorization,
    (_, name: string, value: string) => name + stars(value),
  );
  const rest = text.slice(body);
  return bytesOfLatin1(head + (chunked.test(head) ? stars(rest) : masked(rest)));
}

function masked(text: string): string {
  return text.replace(pairs, (pair, name: string, value: string) =>
    decoded(name) === parameter ? `${name}=${stars(value)}` : pair,
  );
}

/** The name without its percent signs: it may be written as `s%65cret`. */
function decoded(name: string): string {
  return name.replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function stars(text: string): string {
  return text.replace(/[^\r\n]/g, "*");
}

/** Where requests have it. */
export const secret: SecretPlace = {
  where: "the parameter `secret`, or the `Authorization` header (the password of Basic, the token of Bearer)",
  mask,
};
