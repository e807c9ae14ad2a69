/** Networks that are not of the public internet (IANA's special-purpose registry for IPv4), as first address and prefix length. */
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

const networks4 = special4.map(([first, prefix]) => {
  const value = parse4(first);
  if (value === undefined) throw new Error(`${first} is no address`);
  return { value, size: 2 ** (32 - prefix) };
});

/**
 * Whether an IP address is one of the public internet: neither loopback, private, link-local, shared, reserved, multicast nor for
 * documentation. IPv6 addresses that carry an IPv4 one (mapped, NAT64) are judged by it; 6to4 and Teredo are refused.
 * What is no address is not public.
 */
export function isPublicAddress(address: string): boolean {
  const four = parse4(address);
  if (four !== undefined) return isPublic4(four);
  const six = parse6(address);
  return six !== undefined && isPublic6(six);
}

/** The IP address that the host of a URL is, without brackets; undefined for a name. */
export function addressOfHost(host: string): string | undefined {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  return parse4(bare) !== undefined || parse6(bare) !== undefined ? bare : undefined;
}

function isPublic4(value: number): boolean {
  return !networks4.some((network) => value >= network.value && value < network.value + network.size);
}

function isPublic6(groups: readonly number[]): boolean {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  const embedded = g * 65_536 + h;
  if (a === 0 && b === 0 && c === 0 && d === 0 && e === 0 && f === 0xffff) return isPublic4(embedded);
  if (a === 0x64 && b === 0xff9b && c === 0 && d === 0 && e === 0 && f === 0) return isPublic4(embedded);
  // Global unicast is 2000::/3; of it 2001::/23 is for protocols (Teredo), 2001:db8::/32 and 3fff::/20 for documentation, 2002::/16 6to4.
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
