import { type ChildProcess, fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { credentialsFile } from "../../src/credentials-file.ts";
import { dataFolder, end, removeFolder, type Service, startService } from "../../test/support/service.ts";
import { residentBytes } from "../support/processes.ts";
import type { Tenant } from "./attempt.ts";
import { Client, tokenOf } from "./client.ts";
import type { Felt, VictimPlan } from "./felt.ts";
import { many, wait } from "./tally.ts";

/** Where the attacker comes from; the other tenant is elsewhere. */
export const attackerAddress = "127.66.0.1";
const victimAddress = "127.77.0.1";
/** 200 reports and 60 requests a second: below every limit, and enough for a 99th percentile in some seconds. */
const victimDevices = 20;
const trackerMs = 100;
const victimUsers = 3;
const askerMs = 50;

/** What the service has at its defaults, though tests and benches raise it. */
const defaults = { WAYBEAM_API_REQUESTS_PER_MINUTE: "3000", WAYBEAM_LOG_LEVEL: "silent" };

/** A number that no account, device or address had before. */
let made = 0;

/** An address of the loopback network that nobody used before. */
export function freshAddress(): string {
  made++;
  return `127.88.${(made >> 8) & 255}.${made & 255}`;
}

/** Ids that nobody used before. */
export function freshIds(count: number): readonly string[] {
  return Array.from({ length: count }, () => `35400000${String(++made).padStart(7, "0")}`);
}

export function apiPortOf(service: Service): number {
  return Number(new URL(service.url).port);
}

/** A service that runs, and the other tenant, which is there all the time. */
export class Stage {
  readonly directory = dataFolder();
  readonly #settings: Readonly<Record<string, string>>;
  #service: Service | undefined;
  #victim: ChildProcess | undefined;
  #plan: Pick<VictimPlan, "devices" | "tokens"> | undefined;
  #peak = 0;
  readonly #watch: NodeJS.Timeout;

  constructor(settings: Readonly<Record<string, string>> = {}) {
    this.#settings = settings;
    this.#watch = setInterval(() => this.#look(), 50);
  }

  get service(): Service {
    if (this.#service === undefined) throw new Error("the stage is not open");
    return this.#service;
  }

  /** Whether the service still runs. */
  get stands(): boolean {
    const child = this.#service?.child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Starts the service and, when it is there, the other tenant. */
  async open(): Promise<void> {
    this.#service = await startService(this.directory, { ...defaults, ...this.#settings });
    this.#plan ??= await this.#settle();
    const plan: VictimPlan = {
      ...this.#plan,
      trackerMs,
      askerMs,
      apiPort: apiPortOf(this.service),
      devicePort: this.service.devicePort,
      address: victimAddress,
    };
    const victim = fork(join(import.meta.dirname, "victim.ts"), [JSON.stringify(plan)]);
    this.#victim = victim;
    await new Promise<void>((resolve, reject) => {
      victim.once("message", () => resolve());
      victim.once("exit", (code) => reject(new Error(`the other tenant ended with ${code}`)));
    });
  }

  /** Ends both, lets something happen to the folder, and starts both again. */
  async restart(between: (directory: string) => void): Promise<void> {
    await this.#end((service) => service.stop());
    between(this.directory);
    await this.open();
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    // At once: its folder goes too.
    await this.#end((service) => service.kill());
    removeFolder(this.directory);
  }

  /** What the other tenant felt since it was asked last; or, where a time is given, in that time from now on. */
  async felt(ms = 0): Promise<Felt> {
    if (ms > 0) {
      await this.felt();
      await wait(ms);
    }
    const victim = this.#victim;
    if (victim === undefined) throw new Error("the stage is not open");
    return new Promise((resolve) => {
      victim.once("message", (felt: Felt) => resolve(felt));
      victim.send("felt");
    });
  }

  /** The largest resident memory of the service since this was asked last, bytes. */
  peak(): number {
    this.#look();
    const peak = this.#peak;
    this.#peak = 0;
    return peak;
  }

  /** An account with its owner's way in. */
  async tenant(name: string, licenses: number, from: string): Promise<Tenant> {
    const port = apiPortOf(this.service);
    const { operatorKey } = JSON.parse(readFileSync(credentialsFile(this.directory), "utf8"));
    const operator = new Client(port, String(operatorKey), from);
    const userName = `owner${++made}@example.com`;
    const place = { name, timeZone: "America/Bogota" };
    const owner = { ...place, email: userName, country: "CO" };
    const answer = await operator.take("POST", "/api/admin/accounts", { ...place, licenses, owner });
    operator.close();
    const apiKey = String(Reflect.get(Object(answer.owner), "apiKey"));
    const token = await tokenOf(port, userName, apiKey, freshAddress());
    return { userName, apiKey, token, client: new Client(port, token, from) };
  }

  /** A further user of a tenant; gives a token of it. */
  async user(tenant: Tenant, privileges: readonly string[], group?: string): Promise<string> {
    const email = `user${++made}@example.com`;
    const fields = { name: email, email, country: "CO", timeZone: "America/Bogota", privileges };
    const { id } = await tenant.client.take("POST", "/api/users", { ...fields, ...(group && { group }) });
    const { apiKey } = await tenant.client.take("POST", `/api/users/${id}/apiKey`, { presentSecret: tenant.apiKey });
    return tokenOf(apiPortOf(this.service), email, String(apiKey), freshAddress());
  }

  /** Registers devices of a tenant. */
  async register(tenant: Tenant, count: number): Promise<readonly string[]> {
    const ids = freshIds(count);
    await many(
      count,
      16,
      () => true,
      (index) => tenant.client.take("POST", "/api/devices", { id: ids[index], name: ids[index] }),
    );
    return ids;
  }

  async #settle(): Promise<Pick<VictimPlan, "devices" | "tokens">> {
    const tenant = await this.tenant("Other", 100, victimAddress);
    const devices = await this.register(tenant, victimDevices);
    const tokens: string[] = [];
    for (let index = 0; index < victimUsers; index++) tokens.push(await this.user(tenant, ["read", "admin"]));
    tenant.client.close();
    return { devices, tokens };
  }

  #look(): void {
    const pid = this.#service?.child.pid;
    if (pid === undefined || !this.stands) return;
    this.#peak = Math.max(this.#peak, residentBytes(pid));
  }

  async #end(stop: (service: Service) => Promise<unknown>): Promise<void> {
    if (this.#victim !== undefined) await end(this.#victim, "SIGKILL");
    this.#victim = undefined;
    const service = this.#service;
    this.#service = undefined;
    if (service !== undefined) await stop(service);
  }
}
