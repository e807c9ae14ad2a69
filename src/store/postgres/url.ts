import type { ClientConfig } from "pg";
import { type SslMode, sslModes, type TlsFiles, tlsOf } from "./tls.ts";
import type { DatabaseProblem } from "./unusable.ts";

/**
 * A server and a user in the form that `pg` takes. Every field is set, so that `pg` reads nothing but the password from
 * environment variables.
 */
export type ServerAddress = Pick<ClientConfig, "host" | "port" | "user" | "database" | "password" | "options"> & {
  readonly application_name: string;
  readonly ssl: Exclude<ClientConfig["ssl"], undefined>;
};

/** An address, and whether the server may be spoken to without TLS where it has none. */
export interface ParsedUrl {
  readonly address: ServerAddress;
  readonly mayBePlain: boolean;
  /** The address for messages, without the password. */
  readonly shown: string;
}

const form = "It has the form postgresql://USER:PASSWORD@HOST:5432/DATABASE?sslmode=verify-full";
const known: ReadonlySet<string> = new Set([
  "host",
  "port",
  "user",
  "password",
  "dbname",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "application_name",
  "options",
]);

/**
 * Reads an address in libpq's URI form (https://www.postgresql.org/docs/current/libpq-connect.html, 34.1.1.2), or tells
 * all that is wrong with it.
 */
export function parseUrl(text: string): ParsedUrl | { readonly problems: readonly DatabaseProblem[] } {
  const problems: DatabaseProblem[] = [];
  const wrong = (what: string, advice = `${form}.`) => void problems.push({ wrong: what, advice });
  const url = urlOf(text);
  if (url === undefined) {
    wrong(
      "The address of the database can't be read",
      `${form}; in its parts, %, /, :, @, ? and # are written as %25, %2F, %3A, %40, %3F and %23.`,
    );
    return { problems };
  }
  const { parts, parameters } = url;
  for (const name of parameters.keys())
    if (!known.has(name))
      wrong(
        `The address of the database has the unknown parameter ${name}`,
        `Remove it; there are ${[...known].join(", ")}.`,
      );
  const said = (name: string, part: string) => parameters.get(name) ?? part;
  const host = said("host", parts.host);
  const port = said("port", parts.port) || "5432";
  const user = said("user", parts.user);
  const database = said("dbname", parts.database);
  if (host === "") wrong("The address of the database names no host");
  if (`${host}${port}`.includes(","))
    wrong(
      "The address of the database names several hosts",
      "Name one, such as that of a proxy that finds the server.",
    );
  else if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
    wrong(`The address of the database has the port ${port}`);
  if (user === "") wrong("The address of the database names no user");
  if (database === "") wrong("The address of the database names no database");
  const mode = parameters.get("sslmode") ?? "prefer";
  if (!isSslMode(mode))
    wrong(`The address of the database has the sslmode ${mode}`, `It must be one of ${sslModes.join(", ")}.`);
  const tls = tlsOf(isSslMode(mode) ? mode : "prefer", filesOf(parameters), host);
  if ("problems" in tls) problems.push(...tls.problems);
  if (problems.length > 0 || "problems" in tls) return { problems };
  const password = said("password", parts.password);
  const address: ServerAddress = {
    host,
    port: Number(port),
    user,
    database,
    ...(password !== "" && { password }),
    ...(parameters.has("options") && { options: parameters.get("options") }),
    application_name: parameters.get("application_name") ?? "waybeam",
    ssl: tls.ssl,
  };
  return { address, mayBePlain: tls.mayBePlain, shown: `${database} at ${host}:${port} as ${user}` };
}

function isSslMode(text: string): text is SslMode {
  return sslModes.some((mode) => mode === text);
}

function filesOf(parameters: ReadonlyMap<string, string>): TlsFiles {
  return { root: parameters.get("sslrootcert"), certificate: parameters.get("sslcert"), key: parameters.get("sslkey") };
}

/** The URL's parts, decoded. Node's own parser refuses a folder or several hosts in the place of the host. */
function urlOf(text: string) {
  const match = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text);
  if (match === null) return undefined;
  const [, authority = "", place = "", database = "", query = ""] = match;
  const [, name = "", secret = ""] = /^([^:]*):?(.*)$/s.exec(authority) ?? [];
  const [, host = "", port = ""] = /^(\[[^\]]*\]|[^:]*):?(.*)$/.exec(place) ?? [];
  try {
    const parts = {
      user: decodeURIComponent(name),
      password: decodeURIComponent(secret),
      host: decodeURIComponent(host.replace(/^\[(.*)\]$/, "$1")),
      port: decodeURIComponent(port),
      database: decodeURIComponent(database),
    };
    const pairs = query.split("&").filter((pair) => pair !== "");
    const parameters = new Map(
      pairs.map((pair) => {
        const [, key = "", value = ""] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
        return [decodeURIComponent(key), decodeURIComponent(value)] as const;
      }),
    );
    return { parts, parameters };
  } catch {
    return undefined;
  }
}
