import { type LookupAddress, lookup, Resolver } from "node:dns";
import { HostsFile } from "./hosts-file.ts";
import { Slots } from "./slots.ts";

/**
 * Finds the addresses of a host's name. Once the signal is aborted, nobody waits for the answer any more.
 */
export type Resolve = (
  host: string,
  found: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
  signal: AbortSignal,
) => void;

/** How names are looked up. */
export interface NameOptions {
  /** Whether names of the operator's own network are looked up that neither the hosts file nor DNS knows. */
  readonly allowPrivate: boolean;
  /** The time of the call that needs the addresses, ms. */
  readonly timeoutMs: number;
  /** Addresses with ports of the name servers. Unset: those that the system names. */
  readonly nameServers?: readonly string[];
  /** Unset: the system's. */
  readonly hostsFile?: string;
  /** The system's own way. Unset: the real one. */
  readonly system?: SystemLookup;
}

/** Asks the system for the addresses of a name. Cannot be called off. */
export type SystemLookup = (host: string) => Promise<readonly LookupAddress[]>;

/**
 * Looks names up in the hosts file, then in DNS, and, where private addresses are allowed, as the system does. The
 * system's way takes a thread of the runtime's few, for as long as a silent name server likes. So it has one thread at
 * most, and only for names that DNS does not know.
 */
export function createResolve(options: NameOptions): Resolve {
  const names = new Names(options);
  return (host, found, signal) => {
    names.find(host, signal).then(
      (addresses) => found(null, addresses),
      (error: Error) => found(error, []),
    );
  };
}

/** Lookups by the system at a time: it has two threads for these, and mail servers and SMS gateways need one. */
const mostBySystem = 1;

/** Calls that wait for the system's way. The lanes of the outbox begin fewer. */
const mostWaiting = 1000;

/**
 * Time that the second kind of addresses (IPv4 or IPv6) has once the first has come, ms: some name servers never answer
 * about IPv6.
 */
const graceMs = 300;

/** Each try waits twice as long as the one before: all three take seven times the first. */
const tries = 3;

/**
 * Of the call's time, for the first try: so all tries at one name server end within it, and time for the connection is
 * left.
 */
const firstTry = 1 / 10;

const loopback: readonly LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

class Names {
  readonly #options: NameOptions;
  readonly #hosts: HostsFile;
  readonly #turns = new Slots(mostBySystem, mostWaiting);

  constructor(options: NameOptions) {
    this.#options = options;
    this.#hosts = new HostsFile(options.hostsFile);
  }

  async find(name: string, signal: AbortSignal): Promise<readonly LookupAddress[]> {
    const host = name.toLowerCase().replace(/\.$/, "");
    const listed = await this.#hosts.find(host);
    if (listed.length > 0) return listed;
    // RFC 6761, 6.3: DNS is never asked for it.
    if (host === "localhost" || host.endsWith(".localhost")) return loopback;
    const { allowPrivate } = this.#options;
    // RFC 6762, 3: such names are asked for by multicast, which only the system does.
    if (allowPrivate && host.endsWith(".local")) return this.#askSystem(host, signal);
    try {
      return await askDns(host, this.#options, signal);
    } catch (error) {
      if (!allowPrivate || !(error instanceof NoAddress) || error.code === "ETIMEOUT") throw error;
      return this.#askSystem(host, signal);
    }
  }

  async #askSystem(host: string, signal: AbortSignal): Promise<readonly LookupAddress[]> {
    const { system = systemLookup, timeoutMs } = this.#options;
    if (!(await this.#turns.take(timeoutMs, signal)))
      throw new NoAddress("ETIMEOUT", `${host}: the system was busy with other names`);
    try {
      signal.throwIfAborted();
      return await system(host);
    } finally {
      this.#turns.give();
    }
  }
}

function systemLookup(host: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) =>
    lookup(host, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error))),
  );
}

/** DNS has no address of the name, or did not answer. */
class NoAddress extends Error {
  override readonly name = "NoAddress";
  readonly code: "ENOTFOUND" | "EAI_AGAIN" | "ETIMEOUT";

  constructor(code: NoAddress["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** By a resolver of the call's own, without a thread: it is called off alone. */
function askDns(
  host: string,
  { timeoutMs, nameServers }: NameOptions,
  signal: AbortSignal,
): Promise<readonly LookupAddress[]> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const resolver = new Resolver({ timeout: Math.ceil(timeoutMs * firstTry), tries });
  if (nameServers !== undefined) resolver.setServers(nameServers);
  return new Promise((resolve, reject) => {
    const families: Answer[] = [];
    const cancel = () => resolver.cancel();
    let grace: NodeJS.Timeout | undefined;
    const take = (family: 4 | 6) => (error: NodeJS.ErrnoException | null, addresses: readonly string[]) => {
      families.push({ error, addresses: (addresses ?? []).map((address) => ({ address, family })) });
      if (families.length === 1) {
        if (error === null) grace = setTimeout(cancel, graceMs);
        return;
      }
      clearTimeout(grace);
      signal.removeEventListener("abort", cancel);
      const all = families.flatMap((answer) => answer.addresses).sort((left, right) => left.family - right.family);
      if (all.length > 0) resolve(all);
      else reject(noAddress(host, families));
    };
    signal.addEventListener("abort", cancel, { once: true });
    resolver.resolve4(host, take(4));
    resolver.resolve6(host, take(6));
  });
}

/** What DNS said of one kind of addresses. */
interface Answer {
  readonly error: NodeJS.ErrnoException | null;
  readonly addresses: readonly LookupAddress[];
}

/**
 * Translates a failed look-up into a connection's error codes. A name server that can't be reached must not look like a
 * peer that refuses.
 */
function noAddress(host: string, answers: readonly Answer[]): NoAddress {
  const codes = answers.map(({ error }) => error?.code ?? "ENODATA");
  const message = `${host}: ${[...new Set(codes)].join(", ")}`;
  if (codes.some((code) => code === "ETIMEOUT" || code === "ECANCELLED")) return new NoAddress("ETIMEOUT", message);
  const unknown = codes.every((code) => code === "ENOTFOUND" || code === "ENODATA" || code === "EBADNAME");
  return new NoAddress(unknown ? "ENOTFOUND" : "EAI_AGAIN", message);
}
