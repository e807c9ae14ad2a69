import { addressGroup } from "../model/network.ts";
import type { Clock } from "../ports/clock.ts";
import type { Knock, Quarantine, RememberedKnock } from "../ports/quarantine.ts";
import { KnockList } from "./knock-list.ts";

/**
 * Trackers of no account that are remembered: enough to see a new fleet arrive, some 700 bytes each at most. As many
 * again of all accounts together.
 */
const mostKnocks = 1000;
/**
 * Identifiers kept of one tracker, and characters of each: trackers report one to three, of at most 64; the rest is
 * somebody's junk.
 */
const maximumIds = 4;
const maximumIdLength = 64;
/** A tracker that knocks again so long after its first time waits to be registered, ms. */
const waitsAfterMs = 10_000;

/** A quarantine in memory. */
export function createQuarantine(clock: Clock, most = mostKnocks): Quarantine {
  return new MemoryQuarantine(clock, most);
}

class MemoryQuarantine implements Quarantine {
  readonly #clock: Clock;
  readonly #unknown: KnockList;
  readonly #known: KnockList;
  #seq = 0;

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#unknown = new KnockList(most);
    this.#known = new KnockList(most);
  }

  add(knock: Knock): void {
    const { cause, protocol, device } = knock;
    if (device === undefined) {
      const ids = knock.ids.slice(0, maximumIds).map((id) => ownText(id.slice(0, maximumIdLength)));
      const key = `${protocol} ${ids.join(" ")}`;
      const known = this.#unknown.get(key);
      const remembered = this.#remembered(knock, ids, known?.knock);
      this.#unknown.set({ key, share: shareOf(knock, remembered, known?.share), device, knock: remembered });
      return;
    }
    const key = `${device.id} ${cause} ${protocol}`;
    const remembered = this.#remembered(knock, [device.id], this.#known.get(key)?.knock);
    this.#known.set({ key, share: `${device.accountKey}`, device: device.id, knock: remembered });
  }

  unknown(): readonly RememberedKnock[] {
    return [...this.#unknown].map(({ knock }) => knock).reverse();
  }

  ofDevice(id: string): readonly RememberedKnock[] {
    const own = [...this.#known].flatMap(({ device, knock }) => (device === id ? [knock] : []));
    return own.reverse();
  }

  registered(ids: readonly string[]): void {
    for (const entry of [...this.#unknown])
      if (entry.knock.ids.some((id) => ids.includes(id))) this.#unknown.delete(entry);
  }

  removed(id: string): void {
    for (const entry of [...this.#known]) if (entry.device === id) this.#known.delete(entry);
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

const newDatagrams = "datagrams";
const laterDatagrams = "datagrams again";

/**
 * Who is answerable for a tracker of no account: the address that named it first, so that nobody draws others' trackers
 * to themselves. Addresses of datagrams are easily forged, so all of them are one share; trackers that wait have
 * another one, which a flood of invented ones does not reach.
 */
function shareOf(
  { address, transport }: Knock,
  { firstSeen, lastSeen }: RememberedKnock,
  known: string | undefined,
): string {
  const share = known ?? (transport === "udp" ? newDatagrams : addressGroup(address));
  return share === newDatagrams && lastSeen - firstSeen >= waitsAfterMs ? laterDatagrams : share;
}

/** The text in memory of its own: a part of a longer one keeps all of that. */
function ownText(text: string): string {
  return Buffer.from(text).toString();
}
