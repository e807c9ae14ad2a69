import assert from "node:assert/strict";
import { BlockList, isIP } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { addressGroup, contains, networkTest, parseAddress, parseNetwork } from "./network.ts";

const address = fc.oneof(
  fc.ipV4(),
  fc.ipV6().filter((text) => !text.includes(".")),
);

test("an address is in a network exactly where the runtime's own list says so", () => {
  const near = fc.tuple(address, fc.nat(128), address, fc.nat(127)).map(([base, bits, other, flip]) => {
    const length = isIP(base) === 4 ? 32 : 128;
    const groups = [...(parseAddress(base) ?? [])];
    const bit = flip % length;
    groups[bit >> 4] = (groups[bit >> 4] ?? 0) ^ (0x8000 >> (bit & 15));
    const text =
      length === 32
        ? groups.flatMap((group) => [group >> 8, group & 255]).join(".")
        : groups.map((group) => group.toString(16)).join(":");
    return { base, bits: bits % (length + 1), candidates: [base, other, text] };
  });
  fc.assert(
    fc.property(near, ({ base, bits, candidates }) => {
      const list = new BlockList();
      list.addSubnet(base, bits, isIP(base) === 4 ? "ipv4" : "ipv6");
      const network = parseNetwork(`${base}/${bits}`);
      assert.ok(network, `${base}/${bits}`);
      for (const candidate of candidates) {
        const parsed = parseAddress(candidate);
        assert.ok(parsed);
        // The runtime takes an IPv4 address for one of a mapped IPv6 network too; the service never has such.
        if (isIP(candidate) !== isIP(base)) assert.equal(contains(network, parsed), false);
        else assert.equal(contains(network, parsed), list.check(candidate, isIP(base) === 4 ? "ipv4" : "ipv6"));
      }
    }),
  );
});

test("any other text is no network", () => {
  for (const text of ["", "10.0.0.0/33", "10.0.0/8", "010.0.0.1", "::1/129", "1::2::3", "10.0.0.1/", "a", "::1/064"])
    assert.equal(parseNetwork(text), undefined, text);
  fc.assert(
    fc.property(fc.string(), (text) => {
      const [base = "", bits] = text.split("/");
      if (parseNetwork(text) !== undefined) assert.ok(isIP(base) !== 0 && (bits === undefined || Number(bits) <= 128));
    }),
  );
});

test("addresses of one IPv6 subscriber are counted together", () => {
  assert.equal(addressGroup("2001:db8:1:2:3:4:5:6"), addressGroup("2001:db8:1:2::9"));
  assert.notEqual(addressGroup("2001:db8:1:2::9"), addressGroup("2001:db8:1:3::9"));
  assert.equal(addressGroup("192.0.2.1"), "192.0.2.1");
  assert.deepEqual(parseAddress("::ffff:192.0.2.1"), parseAddress("192.0.2.1"));
  assert.equal(addressGroup("fe80::1%eth0"), addressGroup("fe80::2"));
});

test("an IPv4 address is one in whatever form it comes, and each is counted by itself", () => {
  const forms = ["192.0.2.1", "::ffff:192.0.2.1", "::ffff:c000:201", "64:ff9b::c000:201", "0:0::FFFF:c000:0201"];
  for (const written of forms) assert.equal(addressGroup(written), "192.0.2.1");
  assert.notEqual(addressGroup("::ffff:192.0.2.1"), addressGroup("::ffff:192.0.2.2"));
  assert.equal(addressGroup("no address"), "no address");
  const mapped = parseNetwork("::ffff:c000:200/120");
  assert.ok(mapped && contains(mapped, parseAddress("192.0.2.77") ?? []));
  assert.ok(!contains(mapped, parseAddress("192.0.3.77") ?? []));
  for (const wide of ["64:ff9b::/32", "::ffff:0:0/64", "::ffff:10.0.0.0/8"])
    assert.equal(parseNetwork(wide), undefined, wide);
});

test("networks of a list, some of them by a word", () => {
  const own = networkTest("loopback, uniquelocal,203.0.113.0/24");
  for (const found of [
    "127.9.9.9",
    "::1",
    "10.1.2.3",
    "172.31.0.1",
    "192.168.1.1",
    "::ffff:10.0.0.1",
    "fd00::1",
    "203.0.113.9",
  ])
    assert.equal(own(found), true, found);
  for (const found of ["172.32.0.1", "11.0.0.1", "fe80::1", "203.0.114.9", "unknown"])
    assert.equal(own(found), false, found);
  assert.equal(networkTest("")("127.0.0.1"), false);
});
