// npm run new-protocol NAME: begins a protocol: its module, a vector that fails until the module is written, and its
// place in the list.
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const id = process.argv[2] ?? "";
const root = join(import.meta.dirname, "..");
const folder = join(root, "src/protocols");

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

if (!/^[a-z][a-z0-9]*$/.test(id)) fail("usage: npm run new-protocol NAME (small letters and digits, a letter first)");
if (id === "index") fail("index is the list of protocols");
if ([`${id}.ts`, id, `${id}.vectors.json`].some((name) => existsSync(join(folder, name))))
  fail(`${id} is there already`);

const module = `import { type Framing, frame, more, skip } from "../wire/framing.ts";
import { type AnyProtocol, type Certainty, defineProtocol } from "../wire/protocol.ts";

/** What a connection has told before. */
interface Session {
  readonly device: string | undefined;
}

const lineFeed = 0x0a;

/** TODO: how the manual says that a message begins. */
function detect(bytes: Uint8Array): Certainty {
  return bytes[0] === 0x00 ? "maybe" : "no";
}

/** TODO: where the manual says that a message ends. */
function next(buffer: Uint8Array, offset: number): Framing {
  const end = buffer.indexOf(lineFeed, offset);
  if (end < 0) return more;
  return end === offset ? skip(1, "empty line") : frame(offset, end, end + 1);
}

/** TODO: the title as people know the protocol, the vendors' port, the manuals. */
export const ${id}: AnyProtocol = defineProtocol<Session>({
  id: "${id}",
  title: "${id}",
  transports: ["tcp"],
  defaultPort: 5000,
  manuals: [{ title: "TODO" }],
  detect,
  framer: { maximum: 1024, next },
  session: Object.freeze({ device: undefined }),
  classify: (message) => message[0],
  messages: [
    {
      name: "login",
      handle: (_message, session) => ({ session, effects: [{ type: "ignored", reason: "not written yet" }] }),
    },
  ],
});
`;

const vectors = [
  {
    name: "login",
    source: "TODO: the manual and its section",
    transport: "tcp",
    messages: [{ text: "\u0000123456789012345\n" }],
    effects: [[{ type: "identify", ids: ["123456789012345"] }]],
  },
];

writeFileSync(join(folder, `${id}.ts`), module);
writeFileSync(join(folder, `${id}.vectors.json`), `${JSON.stringify(vectors, undefined, 2)}\n`);
const made = spawnSync(process.execPath, [join(root, "scripts/gen.ts")], { stdio: "inherit", cwd: root });
if (made.status !== 0) process.exit(1);
process.stdout.write(`src/protocols/${id}.ts and ${id}.vectors.json are there; docs/adding-a-protocol.md says what goes into them.
Its test fails until they are written:
  ./scripts/node --test --test-name-pattern 'protocol ${id}' test/contract/protocols.test.ts
`);
