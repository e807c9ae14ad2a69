import type { Effect } from "../../src/model/effects.ts";
import type { AnyProtocol } from "../../src/wire/protocol.ts";
import { loadVectors, playRows } from "../../test/support/vectors.ts";
import { type Generator, generatedMark, markdownTable } from "./generator.ts";
import { loadProtocol, protocolModules } from "./protocol-modules.ts";

const decoded: ReadonlySet<Effect["type"]> = new Set(["identify", "fix", "readings", "commandResult"]);

/** What becomes of the messages of a row whose vectors have these effects. */
function fate(effects: readonly Effect[]): string {
  const types = new Set(effects.map((effect) => effect.type));
  if (!types.isDisjointFrom(decoded)) return "decoded";
  if (types.has("failure")) return "refused";
  return types.has("reply") ? "answered only" : "passed over";
}

/** A row for each message: those that the protocol's vectors show, then those of the manuals that no row decodes. */
function messageTable(protocol: AnyProtocol): string {
  const played = Map.groupBy(
    loadVectors(protocol.id).flatMap((vector) => playRows(protocol, vector)),
    ({ row }) => row,
  );
  const known = protocol.messageNames.map((name) => [
    name,
    fate((played.get(name) ?? []).flatMap(({ effects }) => effects)),
  ]);
  const unknown = protocol.notUnderstood.map((name) => [name, "not understood"]);
  return markdownTable(["message", "what becomes of it"], [...known, ...unknown]);
}

function section(protocol: AnyProtocol): string {
  const manuals = protocol.manuals.map(({ title, version }) => `- ${title}${version ? `, ${version}` : ""}`);
  const commands = protocol.commandNames.length > 0 ? protocol.commandNames.join(", ") : "none";
  return `## ${protocol.id}

${protocol.title}. Vendors' port: ${protocol.defaultPort}. Over ${protocol.transports.join(", ")}.${protocol.simulate ? " Can be simulated." : ""}

Manuals:

${manuals.join("\n")}

${messageTable(protocol)}

Commands: ${commands}.

Password or key: ${protocol.secret?.where ?? "none; a device with a secret is refused"}.
`;
}

/** What the service speaks: an overview, and each protocol's messages and manuals. */
export const protocolsDoc: Generator = {
  file: "docs/generated/protocols.md",
  async render(root) {
    const protocols: AnyProtocol[] = [];
    for (const module of await protocolModules(root)) protocols.push(await loadProtocol(root, module));
    const rows = protocols.map((protocol) => [
      `[${protocol.id}](#${protocol.id})`,
      protocol.title,
      protocol.transports.join(", "),
      String(protocol.defaultPort),
      String(protocol.messageNames.length),
      protocol.commandNames.join(", ") || "none",
    ]);
    return `${generatedMark}
# Protocols

${markdownTable(["id", "title", "transports", "vendors' port", "messages", "commands"], rows)}

What becomes of a message: **decoded** (the service stores or uses what the message says), **answered only** (the tracker gets its answer, and nothing
is stored), **passed over** (neither), **refused** (a failure in the trace), **not understood** (in the manual, and in no row of the table).

${protocols.map(section).join("\n")}`;
  },
};
