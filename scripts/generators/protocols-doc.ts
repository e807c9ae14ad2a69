import type { AnyProtocol } from "../../src/wire/protocol.ts";
import { type Generator, generatedMark, markdownTable } from "./generator.ts";
import { loadProtocol, protocolModules } from "./protocol-modules.ts";

function section(protocol: AnyProtocol): string {
  const manuals = protocol.manuals.map(({ title, version }) => `- ${title}${version ? `, ${version}` : ""}`);
  const commands = protocol.commandNames.length > 0 ? protocol.commandNames.join(", ") : "none";
  return `## ${protocol.id}

${protocol.title}. Vendors' port: ${protocol.defaultPort}. Over ${protocol.transports.join(", ")}.${protocol.simulate ? " Can be simulated." : ""}

Manuals:

${manuals.join("\n")}

Messages: ${protocol.messageNames.join(", ")}.

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

${protocols.map(section).join("\n")}`;
  },
};
