import type { Service } from "../../test/support/service.ts";
import type { Client } from "./client.ts";

/** An account of the attacker: its owner's way in, and who asks for it. */
export interface Tenant {
  readonly userName: string;
  readonly apiKey: string;
  readonly token: string;
  /** Asks the API as its owner, from the attacker's address. */
  readonly client: Client;
}

/** What an attempt works with. */
export interface Scene {
  /** The service, which may be another process after `restart`. */
  readonly service: Service;
  readonly apiPort: number;
  readonly devicePort: number;
  /** An account made for this attempt. */
  readonly attacker: Tenant;
  /** Whether the attempt is still to go on: its time is not over. */
  readonly goesOn: () => boolean;
  /** Lets the attempt's time begin now: what it needed is there. */
  readonly prepared: () => void;
  /** How much of something: the first in a run of `npm run abuse`, the second in `npm run test:rest`. */
  readonly scale: (full: number, short: number) => number;
  /** Registers devices of the attacker; gives their ids, which no other attempt uses. */
  readonly devices: (count: number) => Promise<readonly string[]>;
  /** Makes a user of the attacker's account and gives a token of it. */
  readonly user: (privileges: readonly string[], group?: string) => Promise<string>;
  /** Ends the service, lets something happen to its folder, and starts it again. */
  readonly restart: (between: (directory: string) => void) => Promise<void>;
  /** Says how far it is. */
  readonly say: (text: string) => void;
  /** Notes that something which must hold does not. */
  readonly must: (holds: boolean, what: string) => void;
}

/** What became of an attempt, for the table. */
export interface Outcome {
  /** How often it was tried. */
  readonly times: number;
  readonly happened: string;
}

/** One attempt to stop the service for others. */
export interface Attempt {
  readonly name: string;
  /** What it tries, for the table. */
  readonly tries: string;
  /** What must hold beside what always must: others are acknowledged and answered, and memory stays bounded. */
  readonly holds: string;
  /** Settings that it needs other than the defaults: it gets a service of its own. */
  readonly settings?: () => Promise<Readonly<Record<string, string>>>;
  /** Whether it gets a service of its own, since it restarts it. */
  readonly alone?: true;
  readonly run: (scene: Scene) => Promise<Outcome>;
}
