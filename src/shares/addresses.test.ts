import assert from "node:assert/strict";
import { BlockList, isIP } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { addressNumber, networkTest, shareOf } from "./addresses.ts";

const address = fc.oneof(fc.ipV4(), fc.ipV6());

/** Whether the runtime finds the address in the network. */
function inNetwork(found: string, base: string, bits: number): boolean {
  const list = new BlockList();
  list.addSubnet(base, bits, isIP(base) === 6 ? "ipv6" : "ipv4");
  return list.check(found, isIP(found) === 6 ? "ipv6" : "ipv4");
}

test("what the runtime takes for an address has a number, and nothing else has", () => {
  const text = fc.oneof(address, fc.string(), fc.stringMatching(/^[\da-f:.]{1,40}$/));
  fc.assert(
    fc.property(text, (written) => {
      if (!written.includes("%")) assert.equal(addressNumber(written) !== undefined, isIP(written) !== 0, written);
    }),
  );
});

test("IPv6 addresses of one /64 have one share, others have not", () => {
  fc.assert(
    fc.property(fc.ipV6(), fc.ipV6(), (one, other) => {
      const number = addressNumber(one) ?? 0n;
      const same = number >> 64n === (addressNumber(other) ?? 0n) >> 64n;
      assert.equal(shareOf(one) === shareOf(other), same || one === other);
    }),
  );
  assert.equal(shareOf("2001:db8:1:2::5"), shareOf("2001:DB8:1:2:ffff::"));
  assert.notEqual(shareOf("2001:db8:1:2::5"), shareOf("2001:db8:1:3::5"));
  assert.equal(shareOf("fe80::1%eth0"), shareOf("fe80::2%eth1"));
});

test("an IPv4 address has one share in whatever form it comes, and each its own", () => {
  for (const written of [
    "192.0.2.1",
    "::ffff:192.0.2.1",
    "::ffff:c000:201",
    "64:ff9b::192.0.2.1",
    "0:0::FFFF:c000:0201",
  ])
    assert.equal(shareOf(written), "192.0.2.1");
  assert.notEqual(shareOf("::ffff:192.0.2.1"), shareOf("::ffff:192.0.2.2"));
  assert.equal(shareOf("no address"), "no address");
});

test("addresses are in the networks that the runtime finds them in", () => {
  const bits = fc.integer({ min: 1, max: 128 });
  fc.assert(
    fc.property(address, address, bits, (base, found, wanted) => {
      const width = Math.min(wanted, isIP(base) === 6 ? 128 : 32);
      // The runtime knows nothing of translators, and of IPv4 in IPv6 only what is mapped.
      if (isIP(base) !== isIP(found)) return;
      assert.equal(networkTest(`198.51.100.7, ${base}/${width}`)(found), inNetwork(found, base, width));
      assert.equal(networkTest(base)(base), true);
    }),
  );
});

test("networks by a word, and none", () => {
  const own = networkTest("loopback,uniquelocal");
  for (const found of ["127.9.9.9", "::1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "::ffff:10.0.0.1", "fd00::1"])
    assert.equal(own(found), true, found);
  for (const found of ["172.32.0.1", "11.0.0.1", "fe80::1", "8.8.8.8", "unknown"])
    assert.equal(own(found), false, found);
  assert.equal(networkTest("")("127.0.0.1"), false);
});
