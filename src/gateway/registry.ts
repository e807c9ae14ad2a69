import type { ExpectedReply } from "../wire/protocol.ts";
import type { Login } from "./logins.ts";

/** A conversation on which a device is reached. */
export interface Reachable extends Login {
  /** The device was changed, deleted, renewed, or has expired: it must be admitted again, and nothing else of it is taken before. */
  deviceChanged(device: string): void;
  /** Whether the peer still is that device: after a change, its identifiers may be another one's. */
  speaksFor(device: string): boolean | Promise<boolean>;
  /** What its protocol answers to these bytes. */
  expects(bytes: Uint8Array): ExpectedReply;
  /**
   * A command's text as the protocol wraps it for the device, with a mark that no command before had. `otherSpeaks`: another device spoke last, and
   * the text would be addressed to that one.
   */
  encode(
    text: string,
    device: string,
    mark: number,
  ): Uint8Array | { readonly refused: string } | "noForm" | "otherSpeaks";
  /** Writes bytes to the peer. */
  write(bytes: Uint8Array): void;
}

/** Which conversation each device last spoke on, by the id that it is registered under. Commands find their way by it. */
export class Registry {
  readonly #reachable = new Map<string, Reachable>();

  get size(): number {
    return this.#reachable.size;
  }

  find(device: string): Reachable | undefined {
    return this.#reachable.get(device);
  }

  set(device: string, by: Reachable): void {
    this.#reachable.set(device, by);
  }

  /** Forgets the device's conversation, unless it speaks in another one by now. */
  remove(device: string, by: Reachable): void {
    if (this.#reachable.get(device) === by) this.#reachable.delete(device);
  }
}
