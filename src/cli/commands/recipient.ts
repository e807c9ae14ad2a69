import type { Command } from "commander";
import { clientFor, examples } from "../context.ts";
import { CliError } from "../exit.ts";
import type { Host } from "../host.ts";
import { listAll } from "../pages.ts";
import { printLines, printOne } from "../print.ts";
import { isRecord, plain, table } from "../text.ts";

const path = "/api/recipients";

/** `waybeam recipient ...`: people outside the account, and whether they want its notices. */
export function addRecipient(program: Command, host: Host): void {
  const recipient = program
    .command("recipient")
    .description("ask people outside the account whether they want its notices, and enter their codes");
  addList(recipient, host);
  addAsk(recipient, host);
  addAnswer(recipient, host);
  addRemove(recipient, host);
}

function addRemove(recipient: Command, host: Host): void {
  recipient
    .command("remove")
    .description("forget somebody, who then gets no notices until asked again")
    .argument("<to>", "the recipient's e-mail address or phone number, or its id")
    .addHelpText("after", examples("waybeam recipient remove ops@example.com"))
    .action(async (to: string, _options: object, command: Command) => {
      const client = await clientFor(host, command);
      const wanted = [to.toLowerCase(), to.replace(/[ ().-]/g, "")];
      const all = await listAll(client, path, "recipients");
      const found = all.find((each) => each.id === to || wanted.includes(String(each.to)));
      if (found === undefined) throw new CliError("notFound", `nobody was asked as ${to}`);
      await client.call("DELETE", `${path}/${encodeURIComponent(String(found.id))}`);
      host.terminal.err(`${plain(found.to)} is forgotten.\n`);
    });
}

function addList(recipient: Command, host: Host): void {
  recipient
    .command("list")
    .description("list who was asked, with what each answered")
    .option("--json", "JSON Lines, one recipient each, as the API gives it")
    .addHelpText("after", examples("waybeam recipient list", "waybeam recipient list --json | jq -r .to"))
    .action(async (options: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const all = await listAll(client, path, "recipients");
      if (options.json) return await printLines(host, all);
      const rows = all.map(({ channel, to, state, modification, codeExpires }) =>
        [channel, to, state, modification, state === "pending" ? (codeExpires ?? "no code") : ""].map(plain),
      );
      await host.terminal.out(table(["BY", "TO", "STATE", "SINCE", "CODE UNTIL"], rows));
    });
}

function addAsk(recipient: Command, host: Host): void {
  recipient
    .command("ask")
    .description("send somebody a code by which to accept or refuse")
    .argument("<to>", "e-mail address or phone number")
    .option("--json", "JSON, as the API gives it")
    .addHelpText("after", examples("waybeam recipient ask ops@example.com", "waybeam recipient ask +573001234567"))
    .action(async (to: string, { json }: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const { recipient: asked } = await client.call("POST", path, { to });
      await printOne(host, isRecord(asked) ? asked : {}, json);
    });
}

function addAnswer(recipient: Command, host: Host): void {
  recipient
    .command("answer")
    .description("enter the code that a recipient got")
    .argument("<to>", "the recipient's e-mail address or phone number")
    .argument("<code>", "the code of the message")
    .option("--refuse", "the recipient wants no notices, now and later")
    .option("--account <id>", "the account that asked, where it is not one's own: the message names it")
    .option("--json", "JSON, as the API gives it")
    .addHelpText(
      "after",
      examples(
        "waybeam recipient answer ops@example.com 48213977",
        "waybeam recipient answer ops@example.com 48213977 --refuse --account 019a9f3e-7c1b-7e55-9d0b-3f6b2b8f6c11",
      ),
    )
    .action(async (to: string, code: string, options: AnswerOptions, command: Command) => {
      const client = await clientFor(host, command);
      const account = options.account ?? (await client.call("GET", "/api/account")).id;
      const answer = options.refuse ? "refuse" : "confirm";
      const { state } = await client.call("POST", `${path}/answer`, { account, to, code, answer });
      await printOne(host, { to, state }, options.json);
    });
}

interface AnswerOptions {
  readonly refuse?: boolean;
  readonly account?: string;
  readonly json?: boolean;
}
