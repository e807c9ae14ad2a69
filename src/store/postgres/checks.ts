import pg from "pg";
import type { StoreUnavailable } from "../../ports/store.ts";
import {
  checkNumber,
  firstNames,
  movingNumber,
  StoreHalfMoved,
  StoreTooNew,
  StoreUnreleased,
} from "../migrations/migrations.ts";
import { endOf } from "./ending.ts";
import { messageOf } from "./errors.ts";
import type { Times } from "./times.ts";
import { type DatabaseProblem, DatabaseUnusable } from "./unusable.ts";
import { type ParsedUrl, parseUrl, type ServerAddress } from "./url.ts";

/**
 * The oldest supported server. Older ones get no fixes for much longer, and their collations and identity columns
 * differ.
 */
const oldestServer = 15;

/** The message of `pg` for a server that has no TLS. */
const noTls = "The server does not support SSL connections";

/**
 * Connects to the server of an address and checks, without changing anything, whether its database can hold the store.
 * Returns the address, with or without TLS as the server has it. Throws `DatabaseUnusable` with every problem, and what
 * `checkNumber` does. `mayBeHalfMoved`: a move asks, which begins anew.
 */
export async function checkedAddress(url: string, times: Times, mayBeHalfMoved = false): Promise<ServerAddress> {
  const parsed = parseUrl(url);
  if ("problems" in parsed) throw new DatabaseUnusable(parsed.problems);
  const { client, address } = await connect(parsed, times);
  try {
    const problems = [...(await serverProblems(client)), ...(await roleProblems(client, parsed))];
    problems.push(...(await contentProblems(client, parsed, mayBeHalfMoved)));
    if (problems.length > 0) throw new DatabaseUnusable(problems);
    return address;
  } catch (error) {
    const isTold = [DatabaseUnusable, StoreTooNew, StoreHalfMoved, StoreUnreleased].some(
      (kind) => error instanceof kind,
    );
    if (isTold || !(error instanceof Error)) throw error;
    throw unreachable(error, parsed);
  } finally {
    await endOf(client, times.connect);
  }
}

interface Connected {
  readonly client: pg.Client;
  readonly address: ServerAddress;
}

async function connect(parsed: ParsedUrl, times: Times): Promise<Connected> {
  const { address, mayBePlain } = parsed;
  try {
    return await connectTo(address, times);
  } catch (error) {
    const plain = { ...address, ssl: false };
    if (!(error instanceof Error)) throw error;
    if (error.message !== noTls || !mayBePlain) throw unreachable(error, parsed);
    return connectTo(plain, times).catch((failure: Error) => {
      throw unreachable(failure, parsed);
    });
  }
}

async function connectTo(address: ServerAddress, times: Times): Promise<Connected> {
  const client = new pg.Client({
    ...address,
    connectionTimeoutMillis: times.connect,
    query_timeout: times.statement,
  });
  // The connection may break between two queries. The next query then fails; without a listener the process would.
  client.on("error", () => {});
  await client.connect();
  return { client, address };
}

/** Advice by SQLSTATE, or by the code of the system or of Node.js. */
const advices: Readonly<Record<string, string>> = {
  "28P01": "Correct the user or the password in the address of the database.",
  "28000": "Let the user connect to this database from this machine in the server's pg_hba.conf, or correct the user.",
  "3D000":
    "Create it, as with createdb --encoding UTF8 --template template0 --owner USER DATABASE, or correct its name.",
  "53300": "The server has no connection left: raise its max_connections, or close others.",
  "57P03": "The server is starting or stopping: try again.",
  ECONNREFUSED: "Start the server there, let it listen on that address (listen_addresses), or correct host and port.",
  ENOENT: "Start the server on this machine, or correct the folder of its socket.",
  ENOTFOUND: "Correct the name of the host.",
  EAI_AGAIN: "Look whether this machine can resolve names, or try again.",
  ERR_TLS_CERT_ALTNAME_INVALID: "Use the host's name that the certificate has, or sslmode=verify-ca.",
};

function unreachable(error: Error | StoreUnavailable, { shown }: ParsedUrl): DatabaseUnusable {
  const [first] = error instanceof AggregateError ? error.errors : [];
  const code =
    "code" in error ? String(error.code) : first instanceof Error && "code" in first ? String(first.code) : "";
  const message = messageOf(error);
  const advice = advices[code] ?? adviceFor(message);
  return new DatabaseUnusable([{ wrong: `The database ${shown} can't be reached: ${message}`, advice }], {
    cause: error,
  });
}

function adviceFor(message: string): string {
  if (message === noTls) return "Turn TLS on in the server (ssl = on), or say sslmode=prefer or disable.";
  if (/password must be a string/.test(message))
    return "The server wants a password: put it into the address of the database.";
  if (/certificate/.test(message))
    return "Name the authority of the server's certificate with sslrootcert, or say sslmode=require.";
  return "Look whether the server runs and can be reached from this machine, and correct the address of the database.";
}

async function serverProblems(client: pg.Client): Promise<readonly DatabaseProblem[]> {
  const { version, number, encoding, standby, readonly } = await one(
    client,
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
      pg_encoding_to_char(encoding) as encoding, pg_is_in_recovery() as standby,
      current_setting('transaction_read_only') = 'on' as readonly
      from pg_database where datname = current_database()`,
  );
  const problems: DatabaseProblem[] = [];
  if (Number(number) < oldestServer * 10_000)
    problems.push({ wrong: `The server is PostgreSQL ${version}`, advice: `Use PostgreSQL ${oldestServer} or later.` });
  if (encoding !== "UTF8")
    problems.push({
      wrong: `The database has the encoding ${encoding}`,
      advice: "Create another with createdb --encoding UTF8 --template template0, for an encoding can't be changed.",
    });
  if (standby === true)
    problems.push({ wrong: "The server is a standby, which takes no changes", advice: "Name the primary server." });
  else if (readonly === true)
    problems.push({
      wrong: "The database is read-only",
      advice: "Turn default_transaction_read_only off for the server, the database and the user.",
    });
  return problems;
}

async function roleProblems(client: pg.Client, { address }: ParsedUrl): Promise<readonly DatabaseProblem[]> {
  const { schema, creates } = await one(
    client,
    "select current_schema() as schema, coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) as creates",
  );
  const { user } = address;
  if (schema === null)
    return [
      {
        wrong: `The user ${user} has no schema to put tables into`,
        advice: "Create the schema that its search_path names.",
      },
    ];
  if (creates !== true)
    return [
      {
        wrong: `The user ${user} may not create tables in the schema ${schema}`,
        advice: `Let it: GRANT CREATE, USAGE ON SCHEMA "${schema}" TO "${user}"; or make it the database's owner.`,
      },
    ];
  return [];
}

/** Tables in the database that belong to no extension. */
const tables = `select relname::text as name, pg_has_role(relowner, 'USAGE') as own from pg_class as found
  where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')
  and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = found.oid and deptype = 'e')
  order by relname`;

/** Names for a message: the first few, and how many more there are. */
const shownNames = 5;

async function contentProblems(
  client: pg.Client,
  { address }: ParsedUrl,
  mayBeHalfMoved: boolean,
): Promise<readonly DatabaseProblem[]> {
  const { rows } = await client.query<{ name: string; own: boolean }>(tables);
  if (rows.length === 0) return [];
  if (!(await isOurs(client, rows))) return [foreign(rows.map(({ name }) => name))];
  const other = rows.filter(({ own }) => !own).map(({ name }) => name);
  if (other.length > 0)
    return [
      {
        wrong: `The user ${address.user} is not the owner of ${someOf(other)}`,
        advice: "Use the user that made them, or make this one a member of its role.",
      },
    ];
  const { newest } = await one(client, "select max(number) as newest from migration");
  const { first } = await one(client, "select name as first from migration where number = 1");
  if (!mayBeHalfMoved || Number(newest) !== movingNumber) checkNumber(Number(newest), String(first));
  return [];
}

function foreign(names: readonly string[]): DatabaseProblem {
  return {
    wrong: `The database holds tables of another program: ${someOf(names)}`,
    advice: "Give Waybeam a database of its own.",
  };
}

function someOf(names: readonly string[]): string {
  const more = names.length > shownNames ? ` and ${names.length - shownNames} more` : "";
  return names.slice(0, shownNames).join(", ") + more;
}

/** Whether the tables are this program's: its list of migrations begins as it should. */
async function isOurs(
  client: pg.Client,
  rows: readonly { readonly name: string; readonly own: boolean }[],
): Promise<boolean> {
  const names = new Set(rows.map(({ name }) => name));
  if (!["migration", "setting", "device"].every((name) => names.has(name))) return false;
  const { rows: columns } = await client.query<{ name: string }>(
    `select attname::text as name from pg_attribute
      where attrelid = (quote_ident(current_schema()) || '.migration')::regclass and attnum > 0 and not attisdropped order by attnum`,
  );
  if (columns.map(({ name }) => name).join() !== "number,name") return false;
  // A user who may not read it does not own it either, which is another problem's message.
  if (rows.some(({ name, own }) => name === "migration" && !own)) return true;
  const { first } = await one(client, "select name as first from migration where number = 1");
  return firstNames.includes(String(first));
}

async function one(client: pg.Client, question: string): Promise<Readonly<Record<string, unknown>>> {
  const { rows } = await client.query<Record<string, unknown>>(question);
  return rows[0] ?? {};
}
