/** IPv4 addresses as IPv6 writes them: `::ffff:0:0/96`, and `64:ff9b::/96`, by which a translator shows IPv4 clients to an IPv6 network (RFC 6052). */
const mapped = 0xffffn;
const translated = 0x64ff9bn << 64n;
const ipv4Bits = 32n;
const ipv4Mask = 0xffffffffn;

/** Bits of an IPv6 address that say whose it is: the rest of them is the subscriber's own to choose. */
const subscriberBits = 64n;

/** Networks that a list may name by a word. */
const words: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1"],
  linklocal: ["169.254.0.0/16", "fe80::/10"],
  uniquelocal: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
};

/**
 * The number of an IP address; IPv4 is counted as `::ffff:0:0/96`, in whatever form it is written. A zone (`%eth0`) is left out.
 * Undefined: the text is no address.
 */
export function addressNumber(text: string): bigint | undefined {
  if (!text.includes(":")) {
    const ipv4 = ipv4Number(text);
    return ipv4 === undefined ? undefined : (mapped << ipv4Bits) | ipv4;
  }
  const [address = ""] = text.split("%", 1);
  const number = ipv6Number(address);
  if (number === undefined) return undefined;
  return number >> ipv4Bits === translated ? (mapped << ipv4Bits) | (number & ipv4Mask) : number;
}

/**
 * What a limit by address counts to: an IPv4 address, or the /64 of an IPv6 one, which a subscriber has for itself. A text that is no address
 * stands for itself.
 */
export function shareOf(address: string): string {
  // What nearly all are costs no arithmetic.
  if (!address.includes(":")) return address;
  const number = addressNumber(address);
  if (number === undefined) return address;
  if (number >> ipv4Bits !== mapped) return `${(number >> subscriberBits).toString(16)}::/64`;
  return [24n, 16n, 8n, 0n].map((bits) => (number >> bits) & 0xffn).join(".");
}

/**
 * Whether an address is in one of these networks: addresses and networks (`10.0.0.0/8`) or `loopback`, `linklocal`, `uniquelocal`, with commas
 * between. What is none of these names nothing.
 */
export function networkTest(list: string): (address: string) => boolean {
  const named = list.split(",").flatMap((item) => words[item.trim()] ?? [item.trim()]);
  const networks = named.flatMap((item) => networkOf(item) ?? []);
  return (address) => {
    const number = networks.length === 0 ? undefined : addressNumber(address);
    return number !== undefined && networks.some(({ base, free }) => number >> free === base);
  };
}

/** A network: what its addresses have in common, and how many bits they have free. */
function networkOf(item: string): { readonly base: bigint; readonly free: bigint } | undefined {
  const [address = "", bits] = item.split("/");
  const number = addressNumber(address);
  if (number === undefined) return undefined;
  const width = address.includes(":") ? 128 : 32;
  const free = BigInt(width - Math.min(width, Number(bits ?? width)));
  return { base: number >> free, free };
}

function ipv4Number(text: string): bigint | undefined {
  const parts = text.split(".", 5);
  if (parts.length !== 4) return undefined;
  let number = 0n;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    number = (number << 8n) | BigInt(part);
  }
  return number;
}

function ipv6Number(text: string): bigint | undefined {
  const halves = text.split("::", 3);
  if (halves.length > 2) return undefined;
  const [left, right] = halves.map(groupsOf);
  if (left === undefined || (halves.length === 2 && right === undefined)) return undefined;
  const missing = 8 - left.length - (right?.length ?? 0);
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...left, ...Array<bigint>(missing).fill(0n), ...(right ?? [])];
  return groups.reduce((number, group) => (number << 16n) | group, 0n);
}

/** The groups of a half of an IPv6 address, which may end with an IPv4 address. */
function groupsOf(half: string): bigint[] | undefined {
  if (half === "") return [];
  const groups: bigint[] = [];
  for (const part of half.split(":", 9)) {
    const ipv4 = part.includes(".") ? ipv4Number(part) : undefined;
    if (ipv4 !== undefined) groups.push(ipv4 >> 16n, ipv4 & 0xffffn);
    else if (/^[\da-f]{1,4}$/i.test(part)) groups.push(BigInt(`0x${part}`));
    else return undefined;
  }
  return groups;
}
