import { type Command, Option } from "commander";
import { clientFor, examples } from "../context.ts";
import type { Host } from "../host.ts";
import { parsePageLimit } from "../limit.ts";
import { listIn, printLines, printOne } from "../print.ts";
import { isRecord, plain, table } from "../text.ts";

const states = ["queued", "sending", "sent", "failed", "suppressed"];

/** `waybeam notice ...`: who was told of an alert, and what became of it. */
export function addNotice(program: Command, host: Host): void {
  const notice = program.command("notice").description("list who was told of a device's alerts, and tell them again");
  addList(notice, host);
  addResend(notice, host);
}

function addList(notice: Command, host: Host): void {
  const { terminal } = host;
  notice
    .command("list")
    .description("list a device's notices and what became of them, the newest first")
    .argument("<device>", "the device's id")
    .addOption(new Option("--state <state>", "only notices in this state").choices(states))
    .option("--limit <count>", "how many notices at most", parsePageLimit, 20)
    .option("--json", "JSON Lines, one notice each, as the API gives it")
    .addHelpText(
      "after",
      examples("waybeam notice list 490154203237518", "waybeam notice list 490154203237518 --state failed"),
    )
    .action(async (device: string, options: ListOptions, command: Command) => {
      const client = await clientFor(host, command);
      const query = new URLSearchParams({ limit: String(options.limit) });
      if (options.state !== undefined) query.set("state", options.state);
      const answer = await client.device("GET", device, `/notifications?${query}`);
      const notices = listIn(answer, "notifications");
      if (options.json) return await printLines(host, notices);
      const rows = notices.map(({ id, creation, state, channel, recipient, alertName, attempts, reason }) =>
        [id, creation, state, channel, recipient, alertName, attempts, reason].map(plain),
      );
      await terminal.out(table(["ID", "TIME", "STATE", "BY", "TO", "ALERT", "TRIES", "WHY"], rows));
      if (rows.length === 0) terminal.err("No notices.\n");
      else if (answer.nextCursor !== undefined) terminal.err("There are older notices. Give --limit to see more.\n");
    });
}

interface ListOptions {
  readonly state?: string;
  readonly limit: number;
  readonly json?: boolean;
}

function addResend(notice: Command, host: Host): void {
  notice
    .command("resend")
    .description("send a notice again that was sent, failed or suppressed")
    .argument("<device>", "the device's id")
    .argument("<id>", "the notice's id")
    .option("--json", "JSON, as the API gives it")
    .addHelpText("after", examples("waybeam notice resend 490154203237518 019ab305-9a01-7d2f-8f4e-0c6f6f0d1b22"))
    .action(async (device: string, id: string, { json }: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const path = `/notifications/${encodeURIComponent(id)}/resend`;
      const { notification } = await client.device("POST", device, path);
      await printOne(host, isRecord(notification) ? notification : {}, json);
    });
}
