/** An IP address as its 16-bit groups: two of IPv4, eight of IPv6. */
export type Address = readonly number[];

/** All addresses that begin with the same bits; a single address is a network of all its bits. */
export interface Network {
  readonly groups: Address;
  readonly bits: number;
}

const octet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const ipv4 = `(?:${octet}\\.){3}${octet}`;
const hex = "[0-9a-fA-F]{1,4}";
/** Every place that `::` can have. */
const shortened = [1, 2, 3, 4, 5, 6].map((before) => `(?:${hex}:){${before}}(?::${hex}){1,${7 - before}}`);
/** An address of IPv6, without anything around it. */
export const ipv6Pattern = `(?:${[`(?:${hex}:){7}${hex}`, `(?:${hex}:){1,7}:`, ...shortened, `:(?:(?::${hex}){1,7}|:)`].join("|")})`;

/** Networks as users write them: an address of IPv4 or IPv6, alone or with a number of bits (`10.20.0.0/16`). */
export const networkPattern = `^(?:${ipv4}(?:/(?:3[0-2]|[12]?\\d))?|${ipv6Pattern}(?:/(?:12[0-8]|1[01]\\d|[1-9]?\\d))?)$`;

const networkForm = new RegExp(networkPattern);
const ipv4Form = new RegExp(`^${ipv4}$`);
const ipv6Form = new RegExp(`^${ipv6Pattern}$`);

/**
 * How IPv6 writes IPv4 addresses: as an address of its own kind, and as a translator shows IPv4 clients to an IPv6
 * network (`64:ff9b::/96`, RFC 6052).
 */
const ipv4Within: readonly Address[] = [
  [0, 0, 0, 0, 0, 0xffff],
  [0x64, 0xff9b, 0, 0, 0, 0],
];

/** Networks that a list may name by a word. */
const words: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1"],
  linklocal: ["169.254.0.0/16", "fe80::/10"],
  uniquelocal: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
};

/**
 * The groups of an address; undefined where the text is not an address. IPv4 within IPv6 (`::ffff:192.0.2.1`) is read
 * as IPv4; a zone (`%eth0`) is left out.
 */
export function parseAddress(text: string): Address | undefined {
  const mapped = text.startsWith("::ffff:") && text.includes(".") ? text.slice(7) : text;
  if (ipv4Form.test(mapped)) {
    const [a = 0, b = 0, c = 0, d = 0] = mapped.split(".").map(Number);
    return [(a << 8) | b, (c << 8) | d];
  }
  const zone = mapped.indexOf("%");
  const plain = zone < 0 ? mapped : mapped.slice(0, zone);
  if (!ipv6Form.test(plain)) return undefined;
  const [before = "", after] = plain.split("::");
  const [first, last] = [groupsOf(before), groupsOf(after ?? "")];
  const groups = [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last];
  return ipv4Within.some((prefix) => prefix.every((group, at) => group === groups[at])) ? groups.slice(6) : groups;
}

function groupsOf(text: string): readonly number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}

/**
 * A network; undefined where the text is not a network (`networkPattern`). Bits beyond its length do not count:
 * `10.0.0.1/8` is `10.0.0.0/8`.
 */
export function parseNetwork(text: string): Network | undefined {
  if (!networkForm.test(text)) return undefined;
  const [address = "", bits] = text.split("/");
  const groups = parseAddress(address);
  if (groups === undefined || bits === undefined) return groups && { groups, bits: groups.length * 16 };
  const within = address.includes(":") && groups.length === 2;
  if (!within) return { groups, bits: Number(bits) };
  // A shorter prefix covers more than the IPv4 addresses that it is written with, and is no network of them.
  return Number(bits) < 96 ? undefined : { groups, bits: Number(bits) - 96 };
}

/** Whether the address is one of the network's. */
export function contains({ groups, bits }: Network, address: Address): boolean {
  if (groups.length !== address.length) return false;
  for (let index = 0; index * 16 < bits; index++) {
    const ignored = Math.max(0, 16 - (bits - index * 16));
    if ((groups[index] ?? 0) >>> ignored !== (address[index] ?? 0) >>> ignored) return false;
  }
  return true;
}

/**
 * Whether an address is in one of these networks: addresses and networks (`10.0.0.0/8`) or `loopback`, `linklocal`,
 * `uniquelocal`, with commas between. What is none of these names nothing.
 */
export function networkTest(list: string): (address: string) => boolean {
  const named = list.split(",").flatMap((item) => words[item.trim()] ?? [item.trim()]);
  const networks = named.flatMap((item) => parseNetwork(item) ?? []);
  return (text) => {
    const address = networks.length === 0 ? undefined : parseAddress(text);
    return address !== undefined && networks.some((network) => contains(network, address));
  };
}

/**
 * What limits by address count together: an IPv4 address, the /64 of an IPv6 one (a subscriber has at least that).
 * Other texts stand for themselves.
 */
export function addressGroup(address: string): string {
  if (!address.includes(":")) return address;
  const groups = parseAddress(address);
  if (groups === undefined) return address;
  const [high = 0, low = 0] = groups;
  if (groups.length === 2) return `${high >>> 8}.${high & 255}.${low >>> 8}.${low & 255}`;
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}

/**
 * The network that an address most probably shares with its provider's others: its first 16 bits, or the first 32 of an
 * IPv6 address. Other texts stand for themselves.
 */
export function providerNetwork(address: string): string {
  const groups = parseAddress(address);
  if (groups === undefined) return address;
  const [high = 0, low = 0] = groups;
  if (groups.length === 2) return `${high >>> 8}.${high & 255}.0.0/16`;
  return `${high.toString(16)}:${low.toString(16)}::/32`;
}
