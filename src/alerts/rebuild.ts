import type { DeviceKey } from "../model/device.ts";
import type { DeviceState } from "../model/location.ts";
import type { WatchedDevice } from "../ports/alert-engine.ts";
import type { AlertRuleStore } from "../ports/alert-store.ts";
import type { Log } from "../ports/log.ts";
import { type DeviceStore, type LocationStore, StoreUnavailable } from "../ports/store.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import type { AccountRules } from "./rule-book.ts";

/** Changes come in bursts (a fleet is registered, a list of rules replaced): an account's timers are made anew once for all of some seconds. */
const gatherMs = 2000;
/** Time after which to try again while the store can't be asked, ms. */
const retryMs = 5000;
/** States read at a time, so that their memory is bounded and other work comes between. */
const statesAtOnce = 200;

/** What the timers are made from. */
export interface RebuildSources {
  readonly alertRules: Pick<AlertRuleStore, "accounts">;
  readonly devices: Pick<DeviceStore, "list">;
  readonly locations: Pick<LocationStore, "states">;
  readonly log: Log;
}

/** What is done with them. */
export interface RebuildTarget {
  prepare(accountKey: number): Promise<AccountRules | undefined>;
  set(device: WatchedDevice, state: DeviceState, account: AccountRules): void;
  keepOnly(accountKey: number, devices: ReadonlySet<DeviceKey>): void;
}

/** A device whose state can't be read, and why. */
interface Unread {
  readonly device: DeviceKey;
  readonly error: unknown;
}

/** Makes the timers of accounts in the background: of all at the start, of one when its rules, groups or devices change. */
export class Rebuild {
  readonly #sources: RebuildSources;
  readonly #target: RebuildTarget;
  readonly #waiting = new Set<number>();
  /** Accounts whose devices' states have not been read since the start. */
  readonly #unread = new Set<number>();
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
      for (const key of await this.#sources.alertRules.accounts()) {
        this.#waiting.add(key);
        this.#unread.add(key);
      }
      this.#all = false;
    }
    for (const key of [...this.#waiting]) {
      if (!this.#started) return;
      this.#waiting.delete(key);
      try {
        await this.#account(key, this.#unread.has(key));
        this.#unread.delete(key);
      } catch (error) {
        this.#waiting.add(key);
        throw error;
      }
    }
  }

  /** After the start, late records may wait, whatever the rules. */
  async #account(accountKey: number, afterStart: boolean): Promise<void> {
    const account = await this.#target.prepare(accountKey);
    if (account === undefined) return;
    const matters = (rule: CompiledRule) => afterStart || mayWait(rule);
    const all = account.rules.some(matters) ? await this.#sources.devices.list(accountKey) : [];
    const devices = all.filter(({ id }) => account.rulesOf(id).some(matters));
    const unread: Unread[] = [];
    for (let at = 0; at < devices.length && this.#started; at += statesAtOnce) {
      const some = devices.slice(at, at + statesAtOnce);
      const states = await this.#statesOf(
        some.map(({ key }) => key),
        unread,
      );
      some.forEach(({ key, id, name, expires, odometerStart }, index) => {
        const state = states[index];
        if (state !== undefined)
          this.#target.set({ key, accountKey, id, name, expires, odometerStart }, state, account);
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

  /** Reads states of devices. A state that can't be read is undefined and is added to `unread`: that device has no timers until it reports, and all others have theirs. */
  async #statesOf(devices: readonly DeviceKey[], unread: Unread[]): Promise<readonly (DeviceState | undefined)[]> {
    try {
      return await this.#sources.locations.states(devices);
    } catch (error) {
      if (error instanceof StoreUnavailable && error.trouble !== "damaged") throw error;
      const [device] = devices;
      if (device === undefined) return [];
      if (devices.length === 1) {
        unread.push({ device, error });
        return [undefined];
      }
      const middle = devices.length >> 1;
      const before = await this.#statesOf(devices.slice(0, middle), unread);
      return [...before, ...(await this.#statesOf(devices.slice(middle), unread))];
    }
  }
}

/** Whether time alone may ever change something of a rule. */
function mayWait({ clock, timed, calm }: CompiledRule): boolean {
  return timed || clock !== "none" || calm.holdMs > 0 || calm.cooldownMs > 0;
}
