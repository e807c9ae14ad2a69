import { addressGroup } from "../model/network.ts";
import type { Clock } from "../ports/clock.ts";
import type { Knock, Quarantine, RememberedKnock } from "../ports/quarantine.ts";
import { FairList } from "./fair-list.ts";

/** What the quarantine may hold. */
export interface QuarantineLimits {
  /** Trackers of no account that are remembered: enough to see a new fleet arrive, some 700 bytes each at most. As many again of all accounts together. */
  readonly entries: number;
  /** Of these, what one address, or one account, has safe while another has more. */
  readonly share: number;
}

const defaultLimits: QuarantineLimits = { entries: 1000, share: 50 };
/** Identifiers kept of one tracker, and characters of each: trackers report one to three, of at most 64; the rest is somebody's junk. */
const maximumIds = 4;
const maximumIdLength = 64;

/** A quarantine in memory. */
export function createQuarantine(clock: Clock, limits: QuarantineLimits = defaultLimits): Quarantine {
  return new MemoryQuarantine(clock, limits);
}

class MemoryQuarantine implements Quarantine {
  readonly #clock: Clock;
  readonly #unknown: FairList<RememberedKnock>;
  readonly #known: FairList<RememberedKnock & { readonly device: string }>;
  #seq = 0;

  constructor(clock: Clock, { entries, share }: QuarantineLimits) {
    this.#clock = clock;
    this.#unknown = new FairList(entries, share);
    this.#known = new FairList(entries, share);
  }

  add(knock: Knock): void {
    const { cause, protocol, device } = knock;
    if (device === undefined) {
      const ids = knock.ids.slice(0, maximumIds).map((id) => ownText(id.slice(0, maximumIdLength)));
      const key = `${protocol} ${ids.join(" ")}`;
      this.#unknown.set(key, addressGroup(knock.address), this.#remembered(knock, ids, this.#unknown.get(key)));
      return;
    }
    const key = `${device.id} ${cause} ${protocol}`;
    const remembered = this.#remembered(knock, [device.id], this.#known.get(key));
    this.#known.set(key, `${device.accountKey}`, { ...remembered, device: device.id });
  }

  unknown(): readonly RememberedKnock[] {
    return [...this.#unknown].map(([, knock]) => knock).reverse();
  }

  ofDevice(id: string): readonly RememberedKnock[] {
    const own = [...this.#known].flatMap(([, { device, ...knock }]) => (device === id ? [knock] : []));
    return own.reverse();
  }

  registered(ids: readonly string[]): void {
    for (const [key, knock] of [...this.#unknown])
      if (knock.ids.some((id) => ids.includes(id))) this.#unknown.delete(key);
  }

  removed(id: string): void {
    for (const [key, knock] of [...this.#known]) if (knock.device === id) this.#known.delete(key);
  }

  #remembered(
    { cause, protocol, address }: Knock,
    ids: readonly string[],
    known: RememberedKnock | undefined,
  ): RememberedKnock {
    const now = this.#clock.now();
    const [firstSeen, attempts] = [known?.firstSeen ?? now, (known?.attempts ?? 0) + 1];
    return { cause, ids, protocol, address, firstSeen, lastSeen: now, attempts, seq: ++this.#seq };
  }
}

/** The text in memory of its own: a part of a longer one keeps all of that. */
function ownText(text: string): string {
  return Buffer.from(text).toString();
}
