import type { Admitted } from "../ports/intake.ts";
import type { DecodeOptions } from "../wire/protocol.ts";
import type { Verdict } from "./doorkeeper.ts";
import type { Refusal, Turned } from "./exchange.ts";
import type { Reachable } from "./registry.ts";
import type { Shared } from "./shared.ts";

const noOptions: DecodeOptions = Object.freeze({});

function optionsOf({ model, format, ignoresChecksums }: Admitted): DecodeOptions {
  if (model === undefined && format === undefined && ignoresChecksums !== true) return noOptions;
  return {
    ...(model !== undefined && { model }),
    ...(format !== undefined && { format }),
    ...(ignoresChecksums === true && { checksums: "ignore" }),
  };
}

/**
 * Who speaks on a connection: the device that reported its identifiers last, and the others that the connection stands
 * for.
 */
export class Speaker {
  device: Admitted | undefined;
  /** The identifiers that were reported last, whether or not a registered device has them. */
  ids: readonly string[] | undefined;
  /** How the device's messages are to be read: by its model, once it is admitted. */
  options: DecodeOptions = noOptions;
  /** The device was changed: it must be admitted again. */
  changed = false;
  /** Why there is no device, where somebody said that it is one. */
  turned: Turned | undefined;
  /** What it brought as its password or key. */
  secret: string | undefined;
  /**
   * Place among the logins of the device that speaks, where it is only heard here and is reached on another
   * conversation (`takeover.ts`).
   */
  besides: string | undefined;
  /**
   * Ids that the registry has for this connection: one as it is, several in the order in which they were last heard.
   */
  #reachable: string | Set<string> | undefined;
  /** Who spoke before and is asked for again. It keeps its place, and what it was asked is still waited for. */
  #doubted: string | undefined;

  /** Whether the device may go on as it is. */
  get current(): boolean {
    return this.device?.live === true && !this.changed;
  }

  /** Why reports are not taken, while there is no device. */
  get refusal(): Refusal {
    return this.turned ?? "notIdentified";
  }

  /** Whether the device is admitted under these identifiers already. */
  speaksAs(ids: readonly string[]): boolean {
    const known = this.ids;
    if (!this.current || known === undefined || known.length !== ids.length) return false;
    for (let index = 0; index < ids.length; index++) if (known[index] !== ids[index]) return false;
    return true;
  }

  /** Nobody is known to speak: another device may, or the same one is asked for again. */
  forget(session: Reachable, shared: Shared): void {
    const device = this.device;
    if (device !== undefined && !this.current) this.#doubted = device.id;
    this.leaveBesides(session, shared);
    this.device = undefined;
    this.ids = undefined;
    this.options = noOptions;
    this.turned = undefined;
    this.secret = undefined;
    this.changed = false;
  }

  /** What was decided of whoever brought these identifiers, and perhaps a secret. */
  become(ids: readonly string[], secret: string | undefined, verdict: Verdict): void {
    this.ids = ids;
    this.secret = secret;
    this.changed = false;
    this.device = verdict.status === "admitted" ? verdict : undefined;
    this.options = this.device === undefined ? noOptions : optionsOf(this.device);
    this.turned = verdict.status === "admitted" ? undefined : verdict.status;
  }

  /** It was asked who speaks: a device that may not report any longer, or nobody can say, is not waited for. */
  decided(session: Reachable, shared: Shared): void {
    const doubted = this.#doubted;
    if (doubted === undefined) return;
    this.#doubted = undefined;
    if (this.device?.id !== doubted) this.leave(doubted, session, shared);
  }

  /** Whether the directory is being asked for this device again. */
  doubts(id: string): boolean {
    return this.#doubted === id;
  }

  /** Makes the connection the one on which the device is reached. */
  reach(id: string, session: Reachable, shared: Shared): void {
    shared.registry.set(id, session);
    if (this.#reachable === undefined || this.#reachable === id) {
      this.#reachable = id;
      return;
    }
    const reachable = typeof this.#reachable === "string" ? new Set([this.#reachable]) : this.#reachable;
    this.#reachable = reachable;
    reachable.delete(id);
    reachable.add(id);
    if (reachable.size <= shared.limits.devicesPerConnection) return;
    for (const oldest of reachable) {
      this.#unreach(oldest, session, shared);
      shared.commands.left(oldest, session);
      return;
    }
  }

  /** Whether the connection stands for a device that is reached by it. */
  get stands(): boolean {
    return typeof this.#reachable === "string" || (this.#reachable?.size ?? 0) > 0;
  }

  /** The device may not report any longer, or speaks elsewhere. Whether the connection stands for others. */
  leave(id: string, session: Reachable, shared: Shared): boolean {
    this.#unreach(id, session, shared);
    shared.commands.left(id, session);
    return this.stands;
  }

  /** The device that speaks is not heard here any longer, or is reached here. */
  leaveBesides(session: Reachable, shared: Shared): void {
    if (this.besides !== undefined) shared.logins.leave(this.besides, session);
    this.besides = undefined;
  }

  /** The connection is gone. */
  unreachAll(session: Reachable, shared: Shared): void {
    this.leaveBesides(session, shared);
    const reachable = this.#reachable;
    this.#reachable = undefined;
    if (typeof reachable === "string") leave(reachable, session, shared);
    else for (const id of reachable ?? []) leave(id, session, shared);
  }

  #unreach(id: string, session: Reachable, shared: Shared): void {
    shared.registry.remove(id, session, shared.tick);
    shared.logins.leave(id, session);
    if (this.#reachable === id) this.#reachable = undefined;
    else if (typeof this.#reachable === "object") this.#reachable.delete(id);
  }
}

function leave(id: string, session: Reachable, shared: Shared): void {
  shared.registry.remove(id, session, shared.tick);
  shared.logins.leave(id, session);
  shared.commands.left(id, session);
}
