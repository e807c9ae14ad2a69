import { type Command, InvalidArgumentError, Option } from "commander";
import { languages } from "../../model/language.ts";
import { quotaNames } from "../../model/quotas.ts";
import { collect, named, patch, type Step, setSteps, wholeNumber } from "../change.ts";
import type { Answer, ApiClient } from "../client.ts";
import { clientFor, examples, operatorFor } from "../context.ts";
import type { Host } from "../host.ts";
import { keyFileOption, makingKey } from "../new-key.ts";
import { listAll } from "../pages.ts";
import { payloadOf, printLines, printOne, tellAdded } from "../print.ts";
import { isRecord, plain, table } from "../text.ts";
import { addAccountOldPositions } from "./old-positions.ts";

const path = "/api/admin/accounts";

/** `waybeam account ...`: one's own account, and for the operator all of them. */
export function addAccount(program: Command, host: Host): void {
  const account = program
    .command("account")
    .description("show one's account; as the operator, make and change accounts");
  addShow(account, host);
  addList(account, host);
  addAdd(account, host);
  addSet(account, host);
  addAccountOldPositions(account, host, find);
  addOwnerKey(account, host);
}

function addShow(account: Command, host: Host): void {
  account
    .command("show")
    .description("show the user's own account and its licences")
    .option("--json", "JSON, as the API gives it")
    .addHelpText("after", examples("waybeam account show"))
    .action(async (options: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      await printOne(host, payloadOf(await client.call("GET", "/api/account")), options.json);
    });
}

function addList(account: Command, host: Host): void {
  account
    .command("list")
    .description("list the service's accounts (operator)")
    .option("--json", "JSON Lines, one account each, as the API gives it")
    .addHelpText("after", examples("waybeam account list", "waybeam account list --json | jq -r .id"))
    .action(async (options: { json?: boolean }, command: Command) => {
      const client = await operatorFor(host, command);
      const accounts = await listAll(client, path, "accounts");
      if (options.json) return await printLines(host, accounts);
      const rows = accounts.map(({ id, name, timeZone, licenses }) => {
        const { total, used, free }: Answer = isRecord(licenses) ? licenses : {};
        return [id, name, timeZone, total, used, free].map(plain);
      });
      await host.terminal.out(table(["ID", "NAME", "TIME ZONE", "LICENCES", "USED", "FREE"], rows));
    });
}

interface AddOptions {
  readonly timeZone: string;
  readonly licenses: number;
  readonly email: string;
  readonly owner: string;
  readonly country: string;
  readonly language?: string;
  readonly keyFile?: string;
  readonly json?: boolean;
}

function addAdd(account: Command, host: Host): void {
  account
    .command("add")
    .description("make an account and its owner (operator)")
    .argument("<name>", "the account's name")
    .requiredOption("--time-zone <zone>", "time zone of the account and of its owner, such as America/Bogota")
    .requiredOption("--licenses <count>", "devices that may be active", wholeNumber)
    .requiredOption("--owner <name>", "the owner's name")
    .requiredOption("--email <address>", "the owner's e-mail address, which is its user name")
    .requiredOption("--country <country>", "the owner's country: ISO code or English name")
    .addOption(languageOption())
    .addOption(keyFileOption())
    .option("--json", "JSON, as the API gives it, with the file of the key in its place where it is not shown")
    .addHelpText(
      "after",
      examples(
        'waybeam account add "North Fleet" --time-zone America/Bogota --licenses 500 --owner "Ana Gómez" --email ana@example.com --country CO',
      ),
    )
    .action(async (name: string, options: AddOptions, command: Command) => {
      const { timeZone, licenses, owner, email, country, language } = options;
      const client = await operatorFor(host, command);
      const body = { name, timeZone, licenses, language, owner: { name: owner, email, country, timeZone } };
      await makeOwnerKey({ host, command, client, options }, () => client.call("POST", path, body));
    });
}

interface SetOptions {
  readonly name?: string;
  readonly timeZone?: string;
  readonly licenses?: number;
  readonly language?: string;
  readonly dailyEmails?: number;
  readonly dailySms?: number;
  readonly deviceDailyEmails?: number;
  readonly deviceDailySms?: number;
  readonly unconfirmedRecipients?: "on" | "off";
  readonly positionDays?: number;
  readonly unset: readonly string[];
  readonly quota: Readonly<Record<string, number | null>>;
  readonly json?: boolean;
}

function addSet(account: Command, host: Host): void {
  account
    .command("set")
    .description("change an account (operator)")
    .argument("<account>", "its id or name")
    .option("--name <name>", "name")
    .option("--time-zone <zone>", "time zone, such as America/Bogota")
    .option("--licenses <count>", "devices that may be active; fewer than are in use takes none away", wholeNumber)
    .addOption(languageOption())
    .option("--daily-emails <count>", "e-mails that all its devices may send in a day", wholeNumber)
    .option("--daily-sms <count>", "SMS that all its devices may send in a day", wholeNumber)
    .option("--device-daily-emails <count>", "the highest daily e-mail limit of a device", wholeNumber)
    .option("--device-daily-sms <count>", "the highest daily SMS limit of a device", wholeNumber)
    .option("--position-days <days>", "how many days positions are kept; older ones are deleted for good", wholeNumber)
    .addOption(
      new Option(
        "--unconfirmed-recipients <switch>",
        "on: people outside the account get its notices without having confirmed that they want them",
      ).choices(["on", "off"]),
    )
    .option("--unset <field>", "a field of the API to empty, such as dailySms; may be repeated", collect, [])
    .option("--json", "JSON, as the API gives it")
    .addOption(quotaOption())
    .addHelpText(
      "after",
      examples(
        'waybeam account set "North Fleet" --licenses 800',
        'waybeam account set "North Fleet" --daily-emails 2000 --daily-sms 100',
        'waybeam account set "North Fleet" --position-days 365',
        'waybeam account set "North Fleet" --quota geofences=500 --quota users=default',
      ),
    )
    .action(
      async (
        given: string,
        { json, unset, quota, unconfirmedRecipients: without, ...fields }: SetOptions,
        command: Command,
      ) => {
        const client = await operatorFor(host, command);
        const id = await find(client, given);
        const { account: changed } = await patch(client, `${path}/${encodeURIComponent(id)}`, [
          ...setSteps({ ...fields, unconfirmedRecipients: without && without === "on" }, unset),
          ...Object.entries(quota).map(([name, value]): Step => ({ op: "add", path: `/quotas/${name}`, value })),
        ]);
        await printOne(host, isRecord(changed) ? changed : {}, json);
      },
    );
}

function addOwnerKey(account: Command, host: Host): void {
  account
    .command("owner-key")
    .description("make the API key of an account's owner; the one before and its tokens end at once (operator)")
    .argument("<account>", "its id or name")
    .addOption(keyFileOption())
    .option("--json", "JSON, as the API gives it, with the file of the key in its place where it is not shown")
    .addHelpText("after", examples('waybeam account owner-key "North Fleet"'))
    .action(async (given: string, options: KeyOptions, command: Command) => {
      const client = await operatorFor(host, command);
      const id = await find(client, given);
      const call = () => client.call("POST", `${path}/${encodeURIComponent(id)}/ownerApiKey`);
      await makeOwnerKey({ host, command, client, options }, call);
    });
}

interface KeyOptions {
  readonly keyFile?: string;
  readonly json?: boolean;
}

interface KeyCommand {
  readonly host: Host;
  readonly command: Command;
  readonly client: ApiClient;
  readonly options: KeyOptions;
}

/** Makes the key of an account's owner by a call whose answer has the owner with the key, and prints it. */
async function makeOwnerKey(
  { host, command, client, options: { keyFile, json } }: KeyCommand,
  call: () => Promise<Answer>,
): Promise<void> {
  const made = await makingKey(host, command, keyFile, async (keep) => {
    const { owner, ...rest } = payloadOf(await call());
    const { apiKey, ...fields }: Answer = isRecord(owner) ? owner : {};
    const key = await keep({ url: client.url, userName: fields.email, apiKey });
    return { rest, fields, key };
  });
  const { rest, fields, key } = made;
  if (json) return await printOne(host, { ...rest, owner: { ...fields, ...key } }, true);
  if (isRecord(rest.account)) await tellAdded(host, rest.account, false);
  await printOne(host, { userName: fields.email, ...key }, false);
}

/** Reads `users=50`, and `users=default` for what the settings say. */
function quotaOption(): Option {
  const read = (text: string, before: Readonly<Record<string, number | null>>) => {
    const [, name = "", value = ""] = /^(\w+)=(\d{1,12}|default)$/.exec(text) ?? [];
    if (!quotaNames.some((each) => each === name))
      throw new InvalidArgumentError(`It must be one of ${quotaNames.join(", ")}, = and a number or default.`);
    return { ...before, [name]: value === "default" ? null : Number(value) };
  };
  return new Option("--quota <name=count>", `what it may have: ${quotaNames.join(", ")}; default: as the settings say`)
    .default({}, "none")
    .argParser(read);
}

function languageOption(): Option {
  return new Option("--language <language>", "language of its alerts, where a recipient has none of its own").choices([
    ...languages,
  ]);
}

async function find(client: ApiClient, given: string): Promise<string> {
  return named("account", await listAll(client, path, "accounts"), given).id;
}
