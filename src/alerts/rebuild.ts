import type { DeviceKey } from "../model/device.ts";
import type { Standing } from "../model/standing.ts";
import type { WatchedDevice } from "../ports/alert-engine.ts";
import type { AlertRuleStore } from "../ports/alert-store.ts";
import type { Log } from "../ports/log.ts";
import { type DeviceStore, StoreUnavailable } from "../ports/store.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import type { AccountRules } from "./rule-book.ts";

/**
 * Changes come in bursts (a fleet is registered, a list of rules replaced): an account's timers are made anew once for
 * all of some seconds.
 */
const gatherMs = 2000;
/** Time after which to try again while the store can't be asked, ms. */
const retryMs = 5000;
/** Devices asked for at a time, so that their memory is bounded and other work comes between. */
const devicesAtOnce = 200;

/** What the timers are made from. */
export interface RebuildSources {
  readonly alertRules: Pick<AlertRuleStore, "accounts">;
  readonly devices: Pick<DeviceStore, "list">;
  /** How devices stand now, in the order asked; undefined: one was never followed. */
  standings(devices: readonly DeviceKey[]): Promise<readonly (Standing | undefined)[]>;
  readonly log: Log;
}

/** What is done with them. */
export interface RebuildTarget {
  prepare(accountKey: number): Promise<AccountRules | undefined>;
  /** Whether this process judges a device. */
  follows(device: DeviceKey): boolean;
  /** Numbers the present: see `Timers.set`. */
  turn(): number;
  set(device: WatchedDevice, standing: Standing, turn: number, account: AccountRules): void;
  keepOnly(accountKey: number, devices: ReadonlySet<DeviceKey>): void;
}

/** A device of which can't be read how it stands, and why. */
interface Unread {
  readonly device: DeviceKey;
  readonly error: unknown;
}

/**
 * Makes the timers of accounts in the background: of all at the start, of one when its rules, groups or devices change.
 */
export class Rebuild {
  readonly #sources: RebuildSources;
  readonly #target: RebuildTarget;
  readonly #waiting = new Set<number>();
  #all = false;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #started = false;

  constructor(sources: RebuildSources, target: RebuildTarget) {
    this.#sources = sources;
    this.#target = target;
  }

  start(): void {
    this.#started = true;
    this.#all = true;
    this.#run();
  }

  async stop(): Promise<void> {
    this.#started = false;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** Of all accounts, as at the start. */
  everything(): void {
    this.#all = true;
    if (this.#started && this.#running === undefined) this.#later(0);
  }

  changed(accountKey: number): void {
    this.#waiting.add(accountKey);
    if (this.#started && this.#running === undefined) this.#later(gatherMs);
  }

  #later(ms: number): void {
    if (this.#timer !== undefined || !this.#started) return;
    this.#timer = setTimeout(() => this.#run(), ms).unref();
  }

  #run(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running ??= this.#work()
      .then(() => gatherMs)
      .catch((error: unknown) => {
        this.#sources.log.warn({ error }, "timers of alert rules could not be made; trying again");
        return retryMs;
      })
      .then((ms) => {
        this.#running = undefined;
        if (this.#all || this.#waiting.size > 0) this.#later(ms);
      });
  }

  async #work(): Promise<void> {
    if (this.#all) {
      for (const key of await this.#sources.alertRules.accounts()) this.#waiting.add(key);
      this.#all = false;
    }
    for (const key of [...this.#waiting]) {
      if (!this.#started) return;
      this.#waiting.delete(key);
      try {
        await this.#account(key);
      } catch (error) {
        this.#waiting.add(key);
        throw error;
      }
    }
  }

  async #account(accountKey: number): Promise<void> {
    const account = await this.#target.prepare(accountKey);
    if (account === undefined) return;
    const all = account.rules.some(mayWait) ? await this.#sources.devices.list(accountKey) : [];
    const devices = all.filter(({ key, id }) => this.#target.follows(key) && account.rulesOf(id).some(mayWait));
    const unread: Unread[] = [];
    for (let at = 0; at < devices.length && this.#started; at += devicesAtOnce) {
      const some = devices.slice(at, at + devicesAtOnce);
      const turn = this.#target.turn();
      const standings = await this.#standingsOf(
        some.map(({ key }) => key),
        unread,
      );
      some.forEach(({ key, id, name, expires, odometerStart }, index) => {
        const standing = standings[index];
        if (standing !== undefined)
          this.#target.set({ key, accountKey, id, name, expires, odometerStart }, standing, turn, account);
      });
    }
    this.#target.keepOnly(accountKey, new Set(devices.map(({ key }) => key)));
    const [first] = unread;
    if (first !== undefined)
      this.#sources.log.error(
        { ...first, account: accountKey, devices: unread.length },
        "states of devices can't be read: the alert rules of these devices wait until they report",
      );
  }

  /**
   * One of which can't be read how it stands is undefined and is added to `unread`: that device has no timers until it
   * reports, and all others have theirs.
   */
  async #standingsOf(devices: readonly DeviceKey[], unread: Unread[]): Promise<readonly (Standing | undefined)[]> {
    try {
      return await this.#sources.standings(devices);
    } catch (error) {
      if (error instanceof StoreUnavailable && error.trouble !== "damaged") throw error;
      const [device] = devices;
      if (device === undefined) return [];
      if (devices.length === 1) {
        unread.push({ device, error });
        return [undefined];
      }
      const middle = devices.length >> 1;
      const before = await this.#standingsOf(devices.slice(0, middle), unread);
      return [...before, ...(await this.#standingsOf(devices.slice(middle), unread))];
    }
  }
}

/** Whether time alone may ever change something of a rule. */
function mayWait({ clock, timed, calm }: CompiledRule): boolean {
  return timed || clock !== "none" || calm.holdMs > 0 || calm.cooldownMs > 0;
}
