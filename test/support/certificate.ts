import { generateKeyPairSync, sign } from "node:crypto";

/** A certificate for this machine that has signed itself, and its key, as PEM. */
export function selfSigned(): { readonly cert: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(der(0x06, "2a8648ce3d040302"));
  const name = sequence(der(0x31, sequence(der(0x06, "550403"), der(0x0c, Buffer.from("waybeam test")))));
  const day = 86_400_000;
  const validity = sequence(time(Date.now() - day), time(Date.now() + day));
  const names = sequence(der(0x82, Buffer.from("localhost")), der(0x87, "7f000001"));
  const extensions = sequence(
    sequence(der(0x06, "551d11"), der(0x04, names)),
    sequence(der(0x06, "551d13"), der(0x04, sequence(der(0x01, "ff")))),
  );
  const content = sequence(
    der(0xa0, der(0x02, "02")),
    der(0x02, "01"),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, extensions),
  );
  const signature = der(0x03, Buffer.concat([Buffer.of(0), sign("sha256", content, privateKey)]));
  const text = sequence(content, algorithm, signature).toString("base64").replace(/.{64}/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** UTCTime. */
function time(moment: number): Buffer {
  return der(
    0x17,
    Buffer.from(
      `${new Date(moment)
        .toISOString()
        .replace(/[-:T]|\.\d+/g, "")
        .slice(2)}`,
    ),
  );
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

/** An element in the distinguished encoding of ASN.1 (X.690): its tag, its length, its content. */
function der(tag: number, content: Buffer | string): Buffer {
  const bytes = typeof content === "string" ? Buffer.from(content, "hex") : content;
  const { length } = bytes;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), bytes]);
}
