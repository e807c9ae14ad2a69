import assert from "node:assert/strict";
import { BlockList, isIP } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { addressOfHost, isPublicAddress } from "./address.ts";

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
