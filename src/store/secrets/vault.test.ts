import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { systemIds } from "../../observe/ids.ts";
import { createVault, isSealedBy, openVault, secretKey } from "./vault.ts";

const keyOf = (fill: number) => secretKey(Buffer.alloc(32, fill));
const [one, two] = [keyOf(1), keyOf(2)];
const vault = createVault([one], systemIds);
const text = fc.string({ unit: "binary" }).map((given) => given.toWellFormed());

test("what is sealed opens again at its place, never to its own letters", () => {
  fc.assert(
    fc.property(text, fc.string(), (secret, place) => {
      const sealed = vault.seal(secret, place);
      assert.ok(isSealedBy(sealed, one.id));
      assert.ok(secret.length < 8 || !sealed.includes(secret));
      assert.equal(vault.open(sealed, place), secret);
    }),
  );
  assert.notEqual(vault.seal("same", "place"), vault.seal("same", "place"));
});

test("it opens neither elsewhere, nor by another key, nor changed by a single letter or cut", () => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  fc.assert(
    fc.property(text, fc.nat(), fc.nat(62), (secret, position, step) => {
      const sealed = vault.seal(secret, "here");
      assert.throws(() => vault.open(sealed, "there"));
      assert.throws(() => createVault([two], systemIds).open(sealed, "here"), /which is not there/);
      const start = sealed.lastIndexOf(".") + 1;
      // The last letter may have bits that stand for nothing.
      const at = start + (position % (sealed.length - start - 1));
      const letter = letters[(letters.indexOf(sealed.charAt(at)) + 1 + step) % 64] ?? "";
      assert.throws(() => vault.open(sealed.slice(0, at) + letter + sealed.slice(at + 1), "here"));
      assert.throws(() => vault.open(sealed.slice(0, at), "here"));
    }),
  );
});

test("older keys open, the first one seals; what was never sealed is given as it is", () => {
  const sealed = vault.seal("secret", "here");
  const both = createVault([two, one], systemIds);
  assert.equal(both.open(sealed, "here"), "secret");
  assert.ok(isSealedBy(both.seal("secret", "here"), two.id));
  assert.equal(both.open("plain", "here"), "plain");
  assert.throws(() => openVault.open(sealed, "here"), /no key was given/);
});
