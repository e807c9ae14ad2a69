import type { Readable } from "node:stream";

/** Standard input, output and error. */
export interface Terminal {
  readonly input: Readable;
  /** Writes to standard output; resolves when more may be written. */
  out(text: string): Promise<void>;
  /** Writes to standard error: what is for people, never data. */
  err(text: string): void;
  /** Standard output is a terminal: a person reads it, and nothing keeps it. */
  readonly outIsTty: boolean;
  /** Standard error is a terminal that understands a carriage return. */
  readonly errIsTty: boolean;
  /** Columns of the terminal. */
  readonly columns: number;
}

/** One setting in force, for `waybeam config`. */
export interface SettingView {
  readonly key: string;
  readonly value: unknown;
  readonly from: string;
  readonly env: string;
  readonly unit?: string;
  readonly meaning: string;
}

/** The configuration as the command line needs it. */
export interface ConfigView {
  /** Folder of the service's data, where the credentials are. */
  readonly data: string;
  readonly settings: readonly SettingView[];
}

/** The running service. */
export interface Service {
  /** Address of the REST API, as a client on this machine reaches it. */
  readonly url: string;
  /** The port for trackers. */
  readonly devicePort: number;
  /** What the first start made; absent at later ones. */
  readonly created?: { readonly userName: string; readonly apiKey: string };
  /** The operator's key, where this start made it. */
  readonly operatorKey?: string;
  /** Where these are kept for the commands. */
  readonly credentialsFile: string;
  /** Rejects, where the service ends by itself, with what made it end; otherwise never settles. */
  readonly failed?: Promise<never>;
  stop(): Promise<void>;
}

/** Everything of the outside that commands use; the entry gives the real one. */
export interface Host {
  readonly terminal: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: { now(): number; monotonic(): number };
  /** Aborts at the first SIGINT or SIGTERM: end in an orderly way. */
  readonly interrupted: AbortSignal;
  readonly version: string;
  /** Reads the configuration. Throws a CliError that lists every problem. */
  readConfig(file: string | undefined): Promise<ConfigView>;
  /** Starts the service with the configuration; `data`: in this folder, whatever that says. Throws a CliError where it can't start. */
  startService(configFile: string | undefined, data?: string): Promise<Service>;
  /** Makes a new key for the secrets in the database, while no service runs; gives its file. Throws a CliError where it can't be done. */
  rotateSecret(configFile: string | undefined): Promise<string>;
}
