import assert from "node:assert/strict";
import { BlockList, isIP } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { addressOfHost, isMetadataAddress, isPublicAddress } from "./address.ts";

test("addresses of the public internet are public", () => {
  for (const address of ["8.8.8.8", "172.32.0.1", "100.128.0.1", "192.0.1.1", "223.255.255.255", "2606:4700::1111"])
    assert.ok(isPublicAddress(address), address);
  assert.ok(isPublicAddress("::ffff:8.8.8.8"));
  assert.ok(isPublicAddress("64:ff9b::808:808"));
});

test("all others are not, in every form that they are written in", () => {
  const addresses =
    "0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.255 169.254.169.254 172.16.0.1 172.31.255.255 192.168.1.1 198.19.0.1 203.0.113.9 " +
    "224.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::127.0.0.1 64:ff9b::a00:1 fe80::1 fe80::1%eth0 fc00::1 fd12::1 ff02::1 " +
    "2001:db8::1 2001::1 2002:7f00:1:: 3fff::1 localhost 1.2.3 1.2.3.256 2606:: :2606::1 2606:4700::1::1";
  const wrong = addresses.split(" ").filter((address) => address !== "2606::" && isPublicAddress(address));
  assert.deepEqual(wrong, []);
});

test("private networks agree with the runtime's own lists", () => {
  const list = new BlockList();
  for (const [net, prefix] of [
    ["10.0.0.0", 8],
    ["127.0.0.0", 8],
    ["172.16.0.0", 12],
    ["192.168.0.0", 16],
  ] as const)
    list.addSubnet(net, prefix);
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      if (list.check(address)) assert.ok(!isPublicAddress(address));
      assert.equal(isPublicAddress(address), isPublicAddress(`::ffff:${address}`));
      assert.equal(isPublicAddress(address), isPublicAddress(`64:ff9b::${address}`));
    }),
  );
  const six = new BlockList();
  six.addSubnet("2000::", 3, "ipv6");
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      if (isPublicAddress(address) && !/^(0*:|64:)/.test(address) && !address.startsWith("::"))
        assert.ok(six.check(address, "ipv6"), address);
    }),
  );
});

test("hosts of URLs are addresses in whatever form they are given", () => {
  for (const [url, address] of [
    ["http://2130706433/", "127.0.0.1"],
    ["http://0x7f.1/", "127.0.0.1"],
    ["http://[::ffff:127.0.0.1]/", "::ffff:7f00:1"],
    ["http://localhost/", undefined],
  ] as const)
    assert.equal(addressOfHost(new URL(url).hostname), address, url);
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.domain()), (text) => {
      assert.equal(
        addressOfHost(text) !== undefined,
        isIP(text) !== 0 || (text.startsWith("[") && isIP(text.slice(1, -1)) === 6),
      );
    }),
  );
});

/** Where clouds tell a machine its keys. */
const metadata =
  "169.254.169.254 169.254.170.2 169.254.170.23 169.254.0.23 169.254.42.42 100.100.100.200 168.63.129.16 192.0.0.192 " +
  "fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:c1::a9fe:a9fe fd00:42::42 fd00:a9fe:a9fe::1 fe80::a9fe:a9fe fe80::a9fe:a9fe%eth0";

test("metadata services of clouds are recognised, and ordinary addresses are none", () => {
  for (const address of metadata.split(" ")) assert.ok(isMetadataAddress(address), address);
  for (const address of "8.8.8.8 10.0.0.1 127.0.0.1 192.168.1.1 100.100.100.201 168.63.129.17 192.0.0.193 ::1 fd12::1 2606:4700::1111 localhost".split(
    " ",
  ))
    assert.ok(!isMetadataAddress(address), address);
});

const hex = (value: number) => value.toString(16);

/** The forms in which IPv6 carries an IPv4 address. */
const carriers: readonly ((four: string) => string)[] = [
  (four) => `::ffff:${four}`,
  (four) => `::ffff:0:${four}`,
  (four) => `::${four}`,
  (four) => `64:ff9b::${four}`,
  (four) => `64:ff9b:1::${four}`,
  (four) => `2002:${pairOf(four)}::1`,
  (four) => `2001:0:${pairOf(four)}::1`,
  (four) => `2001:0:808:808:0:0:${pairOf(four, 0xff)}`,
  (four) => `2001:db8::5efe:${four}`,
  (four) => `fe90::200:5efe:${four}`,
];

/** Two groups of an IPv6 address. */
function pairOf(four: string, turned = 0): string {
  const [a = 0, b = 0, c = 0, d = 0] = four.split(".").map((part) => Number(part) ^ turned);
  return `${hex(a * 256 + b)}:${hex(c * 256 + d)}`;
}

test("metadata services are recognised in every form that carries them, however it is written", () => {
  const fours = metadata.split(" ").filter((address) => isIP(address) === 4);
  const inNetwork = fc.tuple(fc.nat(255), fc.nat(255)).map(([c, d]) => `169.254.${c}.${d}`);
  const any = fc.oneof(fc.constantFrom(...fours), inNetwork);
  fc.assert(
    fc.property(any, fc.constantFrom(...carriers), fc.boolean(), (four, carry, upper) => {
      const written = carry(four);
      assert.equal(isIP(written), 6, written);
      const address = upper ? written.toUpperCase() : written;
      assert.ok(isMetadataAddress(address), address);
      // As a URL writes it.
      const host = addressOfHost(new URL(`http://[${address}]/`).hostname);
      assert.ok(host !== undefined && isMetadataAddress(host), address);
    }),
  );
  fc.assert(
    fc.property(fc.ipV4(), fc.constantFrom(...carriers.slice(0, 6)), (four, carry) =>
      assert.equal(isMetadataAddress(carry(four)), isMetadataAddress(four)),
    ),
  );
});
