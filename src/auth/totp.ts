import { createHash, createHmac } from "node:crypto";
import type { Ids } from "../ports/ids.ts";
import { isSame } from "./session-token.ts";

/** What every authenticator understands (RFC 6238 with its defaults). */
const stepMs = 30_000;
const digits = 6;
/** Steps before and after the present one whose codes are taken: clocks differ, and people type. */
const tolerance = 1;
/** 160 bits, as RFC 4226 recommends. */
const secretBytes = 20;

const recoveryCodes = 10;
/** 80 bits, 16 letters: not to be guessed, so a fast hash of it is as good as a slow one. */
const recoveryBytes = 10;

/** A new key of codes, base32. */
export function makeTotpSecret(ids: Ids): string {
  return base32(Buffer.from(ids.secret(secretBytes), "base64url"));
}

/** The step whose code this is, near a moment; undefined: it is none of them. */
export function stepOf(secret: string, code: string, now: number): number | undefined {
  const present = Math.floor(now / stepMs);
  for (let step = present - tolerance; step <= present + tolerance; step++)
    if (isSame(totp(secret, step), code)) return step;
  return undefined;
}

/** The code of a step (RFC 4226, 5.3). */
export function totp(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", fromBase32(secret)).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, "0");
}

/** What an authenticator reads from a QR code. `issuer` and `email` are what it shows. */
export function totpUri(secret: string, issuer: string, email: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`;
}

/** Codes for who has lost the authenticator, each good once: as they are shown, and what is stored of each. */
export function makeRecoveryCodes(ids: Ids): { readonly codes: readonly string[]; readonly hashes: readonly string[] } {
  const codes = Array.from({ length: recoveryCodes }, () =>
    base32(Buffer.from(ids.secret(recoveryBytes), "base64url"))
      .toLowerCase()
      .replaceAll(/.{4}(?=.)/g, "$&-"),
  );
  return { codes, hashes: codes.map((code) => hashRecoveryCode(plainCode(code))) };
}

/** What is stored of a recovery code, as `plainCode` gives it: its SHA-256, hex. */
export function hashRecoveryCode(code: string): string {
  return createHash("sha256").update(code).digest("hex");
}

/** A code as a person types it, without spaces and hyphens, in small letters. */
export function plainCode(typed: string): string {
  return typed.replaceAll(/[\s-]/g, "").toLowerCase();
}

/** RFC 4648, 6. */
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Of a whole number of 5-byte groups, so without padding. */
export function base32(bytes: Buffer): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 5) {
    let group = bytes.readUIntBE(at, 5);
    let letters = "";
    for (let letter = 0; letter < 8; letter++) {
      letters = `${alphabet[group % 32]}${letters}`;
      group = Math.floor(group / 32);
    }
    text += letters;
  }
  return text;
}

function fromBase32(text: string): Buffer {
  const bytes = Buffer.alloc((text.length / 8) * 5);
  for (let at = 0; at < text.length; at += 8) {
    let group = 0;
    for (const letter of text.slice(at, at + 8)) group = group * 32 + alphabet.indexOf(letter);
    bytes.writeUIntBE(group, (at / 8) * 5, 5);
  }
  return bytes;
}
