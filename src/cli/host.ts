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
  /** The address that the REST API listens on, where others reach it by plain HTTP. */
  readonly plainAt?: string;
  /** The port for trackers. */
  readonly devicePort: number;
  /** What the first start made; absent at later ones. */
  readonly created?: { readonly userName: string; readonly apiKey: string };
  /** The operator's key, where this start made it. */
  readonly operatorKey?: string;
  /** The page that sets the owner's first password, while there is none. */
  readonly firstLink?: string;
  /** Where these are kept for the commands. */
  readonly credentialsFile: string;
  /** Rejects, where the service ends by itself, with what made it end; otherwise never settles. */
  readonly failed?: Promise<never>;
  stop(): Promise<void>;
}

/** Hears now and then how far something is that takes long. */
export type TellProgress = (text: () => string) => void;

/** What is to be backed up, and where to. */
export interface BackupWish {
  readonly target: string;
  readonly replace: boolean;
  /** Everything is copied, whatever the backup that is there has. */
  readonly withoutKeys: boolean;
}

/** What was backed up or restored. */
export interface BackupContent {
  readonly devices: number;
  readonly positions: number;
  /** Of the backup's databases. */
  readonly bytes: number;
  /** When it was begun, UTC. */
  readonly made: string;
}

/** A backup that was made. */
export interface BackupMade extends BackupContent {
  readonly folder: string;
  readonly withKey: boolean;
  /** Of SQLite's own logs, which grow while a copy is made. */
  readonly walBytes: number;
  /** The file of the secret key. */
  readonly secretFile: string;
}

/** What is to be restored. */
export interface RestoreWish {
  readonly backup: string;
  readonly replace: boolean;
}

/** A backup that was restored. */
export interface RestoreMade extends BackupContent {
  /** The data folder. */
  readonly data: string;
  /** The folder of the files that were there before. */
  readonly replaced?: string | undefined;
}

/** What reading everything found. */
export interface Checked {
  /** The folder that was read. */
  readonly folder: string;
  readonly devices: number;
  readonly positions: number;
  readonly findings: readonly {
    readonly device: string | undefined;
    /** Event times of the positions that it concerns, epoch ms. */
    readonly range?: { readonly from: number; readonly to: number };
    readonly problem: string;
  }[];
  /** Findings beside these. */
  readonly more: number;
}

/** What is to be moved. */
export interface MoveWish {
  /** A data folder, or the address of a PostgreSQL database. Undefined: what the configuration names. */
  readonly from: string | undefined;
  readonly to: string;
  readonly acceptDamage: boolean;
}

/** What was moved, or copied so far. */
export interface MoveMade {
  /** The stores, for people. */
  readonly from: string;
  readonly to: string;
  /** The data folder of the service that uses the target: it has the keys. */
  readonly folder: string;
  /** The target is an embedded store. */
  readonly toFolder: boolean;
  readonly devices: number;
  readonly positions: number;
  readonly rows: number;
  /** What of the source can't be read. */
  readonly unreadable: readonly string[];
  /** Where the target is not what the source is. */
  readonly differences: readonly string[];
  /** A service may use the target. */
  readonly isWhole: boolean;
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
  /**
   * Starts the service with the configuration; `data`: in this folder, whatever that says. Throws a CliError where it
   * can't start.
   */
  startService(configFile: string | undefined, data?: string): Promise<Service>;
  /**
   * Makes a new key for the secrets in the database, while no service runs; gives its file. Throws a CliError where it
   * can't be done.
   */
  rotateSecret(configFile: string | undefined): Promise<string>;
  /** Backs the data folder up, whether a service uses it or not. Throws a CliError where it can't be done. */
  backup(configFile: string | undefined, options: BackupWish, progress: TellProgress): Promise<BackupMade>;
  /** Puts a backup into the data folder, which no service may use. Throws a CliError where it can't be done. */
  restore(configFile: string | undefined, options: RestoreWish, progress: TellProgress): Promise<RestoreMade>;
  /** Reads everything of the data folder, or of a backup. Throws a CliError where it can't be read at all. */
  check(configFile: string | undefined, backup: string | undefined, progress: TellProgress): Promise<Checked>;
  /**
   * Copies a store into one of the other engine. No service may use either. Throws a CliError where it can't be done.
   */
  moveStore(configFile: string | undefined, wish: MoveWish, progress: TellProgress): Promise<MoveMade>;
}
