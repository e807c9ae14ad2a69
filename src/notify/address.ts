/**
 * Networks that are not of the public internet (IANA's special-purpose registry for IPv4), as first address and prefix
 * length.
 */
const special4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const;

const networks4 = networksOf(special4);

interface Network {
  readonly value: number;
  readonly size: number;
}

function networksOf(list: readonly (readonly [first: string, prefix: number])[]): readonly Network[] {
  return list.map(([first, prefix]) => {
    const value = parse4(first);
    if (value === undefined) throw new Error(`${first} is no address`);
    return { value, size: 2 ** (32 - prefix) };
  });
}

function isIn(networks: readonly Network[], value: number): boolean {
  return networks.some((network) => value >= network.value && value < network.value + network.size);
}

/**
 * Whether an IP address is one of the public internet: neither loopback, private, link-local, shared, reserved,
 * multicast nor for documentation. IPv6 addresses that carry an IPv4 one (mapped, NAT64) are judged by it; 6to4 and
 * Teredo are refused. What is no address is not public.
 */
export function isPublicAddress(address: string): boolean {
  const four = parse4(address);
  if (four !== undefined) return isPublic4(four);
  const six = parse6(address);
  return six !== undefined && isPublic6(six);
}

/**
 * Where clouds tell a machine its own keys, beside all link-local addresses (169.254.0.0/16, fe80::/10), as first
 * address and prefix length.
 */
const metadata4 = [
  ["169.254.0.0", 16],
  // Alibaba Cloud.
  ["100.100.100.200", 32],
  // Azure's own host agent. It counts as public.
  ["168.63.129.16", 32],
  // Oracle Cloud's first generation.
  ["192.0.0.192", 32],
] as const;

/** The same in IPv6, as the groups that such an address begins with. */
const metadata6: readonly (readonly number[])[] = [
  // Amazon: instance metadata and the keys of containers.
  [0xfd00, 0x0ec2],
  // Google Cloud.
  [0xfd20, 0x00ce],
  // Oracle Cloud.
  [0xfd00, 0x00c1],
  // Scaleway.
  [0xfd00, 0x0042],
  // Akamai (Linode).
  [0xfd00, 0xa9fe, 0xa9fe],
];

const metadataNetworks = networksOf(metadata4);

/**
 * Whether an address is one where a cloud provider tells a machine its own keys, or could be: every link-local one.
 * IPv6 addresses that carry an IPv4 one (mapped, translated, NAT64, 6to4, Teredo, ISATAP) are judged by it too,
 * whichever of its forms a network may route.
 */
export function isMetadataAddress(address: string): boolean {
  const four = parse4(address);
  if (four !== undefined) return isIn(metadataNetworks, four);
  const six = parse6(address.replace(/%.*$/s, ""));
  if (six === undefined) return false;
  const [first = 0] = six;
  if (first >= 0xfe80 && first <= 0xfebf) return true;
  if (metadata6.some((prefix) => prefix.every((group, index) => group === six[index]))) return true;
  return embeddedIn(six).some((value) => isIn(metadataNetworks, value));
}

/** The IPv4 addresses that an IPv6 address may carry. */
function embeddedIn(groups: readonly number[]): readonly number[] {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  const last = g * 65_536 + h;
  // Mapped (::ffff:0:0/96), translated (::ffff:0:0:0/96) and compatible (::/96) ones; NAT64 by the well-known prefix
  // (RFC 6052).
  if (a === 0 && b === 0 && c === 0 && d === 0) return [last];
  if (a === 0x64 && b === 0xff9b) return c === 1 ? [last, ...localNat64(d, e, f)] : [last];
  if (a === 0x2002) return [b * 65_536 + c];
  // Teredo: the server as it is, the client with every bit turned (RFC 4380).
  if (a === 0x2001 && b === 0) return [c * 65_536 + d, 0xffff_ffff - last];
  // ISATAP (RFC 5214).
  return (e === 0 || e === 0x200) && f === 0x5efe ? [last] : [];
}

/**
 * The local-use prefix 64:ff9b:1::/48 used as it is: the address goes around the bits 64 to 71, which stay empty (RFC
 * 6052, 2.2).
 */
function localNat64(d: number, e: number, f: number): readonly number[] {
  return [d * 65_536 + (e & 0xff) * 256 + (f >> 8)];
}

/** The IP address that the host of a URL is, without brackets; undefined for a name. */
export function addressOfHost(host: string): string | undefined {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  return parse4(bare) !== undefined || parse6(bare) !== undefined ? bare : undefined;
}

function isPublic4(value: number): boolean {
  return !isIn(networks4, value);
}

function isPublic6(groups: readonly number[]): boolean {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  const embedded = g * 65_536 + h;
  if (a === 0 && b === 0 && c === 0 && d === 0 && e === 0 && f === 0xffff) return isPublic4(embedded);
  if (a === 0x64 && b === 0xff9b && c === 0 && d === 0 && e === 0 && f === 0) return isPublic4(embedded);
  // Global unicast is 2000::/3; of it 2001::/23 is for protocols (Teredo), 2001:db8::/32 and 3fff::/20 for
  // documentation, 2002::/16 6to4.
  if (a < 0x2000 || a > 0x3fff) return false;
  const documentation = (a === 0x2001 && b === 0xdb8) || (a === 0x3fff && b < 0x1000);
  return !documentation && !(a === 0x2001 && b < 0x200) && a !== 0x2002;
}

function parse4(text: string): number | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  if (match === null) return undefined;
  const parts = match.slice(1).map(Number);
  return parts.some((part) => part > 255) ? undefined : parts.reduce((value, part) => value * 256 + part, 0);
}

/** Eight groups; undefined for what is no IPv6 address, and for one with a zone, which is never public. */
function parse6(text: string): number[] | undefined {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const four = dotted === null ? undefined : parse4(dotted[2] ?? "");
  if (dotted !== null && four === undefined) return undefined;
  const tail = four === undefined ? "" : `${Math.floor(four / 65_536).toString(16)}:${(four % 65_536).toString(16)}`;
  const halves = (dotted === null ? text : `${dotted[1]}${tail}`).split("::");
  if (halves.length > 2) return undefined;
  const [head = [], rest = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - rest.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array<string>(missing).fill("0"), ...rest];
  return groups.every((group) => /^[\da-f]{1,4}$/i.test(group))
    ? groups.map((group) => Number.parseInt(group, 16))
    : undefined;
}
