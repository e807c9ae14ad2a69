import Format from "typebox/format";

/** Names of ranges that stand for addresses of one's own networks. */
const ranges: ReadonlySet<string> = new Set(["loopback", "linklocal", "uniquelocal"]);

/**
 * Whether a text names IP addresses and networks (`10.0.0.0/8`) or `loopback`, `linklocal`, `uniquelocal`, with commas
 * between; empty names none.
 */
export function isAddressList(text: string): boolean {
  return text === "" || text.split(",").every((item) => isAddressOrRange(item.trim()));
}

const origin = /^[a-z][a-z0-9+.-]*:\/\/([a-z0-9._-]+|\[[0-9a-f:]+\])(:[1-9]\d{0,4})?$/;

/**
 * Whether a text names origins of web pages (`https://app.example`) as browsers write them, with commas between, or is
 * `*`; empty names none.
 */
export function isOriginList(text: string): boolean {
  return text === "" || text === "*" || text.split(",").every((item) => origin.test(item.trim()));
}

function isAddressOrRange(item: string): boolean {
  if (ranges.has(item)) return true;
  const [address = "", bits, ...more] = item.split("/");
  const longest = Format.IsIPv4(address) ? 32 : Format.IsIPv6(address) && !address.includes("%") ? 128 : 0;
  if (longest === 0 || more.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= longest);
}
