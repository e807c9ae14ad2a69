import type { Command } from "commander";
import { collect, collectTag, patch, setSteps, tagSteps } from "../change.ts";
import { clientFor, examples } from "../context.ts";
import type { Host } from "../host.ts";
import { keyFileOption, makingKey } from "../new-key.ts";
import { payloadOf, tellAdded, tellWarnings } from "../print.ts";
import { plain } from "../text.ts";
import { findUser, makeKey, tellUser, userPath } from "../users.ts";

/** The options of both commands; names are those of the API's fields. */
interface Fields {
  readonly name?: string;
  readonly email?: string;
  readonly country?: string;
  readonly timeZone?: string;
  readonly description?: string;
  readonly message?: string;
  readonly privilege: readonly string[];
  readonly group?: string;
  readonly device?: string;
  readonly from?: string;
  readonly expires?: string;
  readonly tag: Readonly<Record<string, string>>;
  readonly json?: boolean;
}

function withFields(command: Command): Command {
  return command
    .option("--description <text>", "description")
    .option("--message <text>", "message for the user")
    .option("--privilege <name>", "a privilege, such as admin, write, sendCommands; may be repeated", collect, [])
    .option("--group <group>", "id or name of the group whose devices it sees")
    .option("--device <id>", "the device that it sees")
    .option("--from <time>", "it may do nothing before: RFC 3339")
    .option("--expires <time>", "it may do nothing from then on: RFC 3339")
    .option("--tag <key=value>", "a tag; may be repeated", collectTag, {})
    .option("--json", "JSON, as the API gives it");
}

function bodyOf(fields: Fields) {
  const { name, email, country, timeZone, description, message, privilege, group, device, from, expires } = fields;
  const privileges = privilege.length > 0 ? privilege : undefined;
  const body = { name, email, country, timeZone, description, message, privileges, group, deviceId: device };
  return { ...body, from, expires };
}

/** `waybeam user add`. */
export function addUserAdd(user: Command, host: Host): void {
  const add = user
    .command("add")
    .description("make a user")
    .argument("<email>", "its e-mail address, which is its user name")
    .requiredOption("--name <name>", "name")
    .requiredOption("--country <country>", "ISO code or English name")
    .requiredOption("--time-zone <zone>", "time zone, such as America/Bogota");
  withFields(add)
    .option("--key", "make its API key as well")
    .addOption(keyFileOption().implies({ key: true }))
    .addHelpText(
      "after",
      examples(
        'waybeam user add ana@example.com --name "Ana Gómez" --country CO --time-zone America/Bogota --privilege admin --key',
        'waybeam user add bo@example.com --name Bo --country CO --time-zone America/Bogota --group "North"',
      ),
    )
    .action(async (email: string, options: AddOptions, command: Command) => {
      const client = await clientFor(host, command);
      const make = async () => {
        const answer = await client.call("POST", "/api/users", { ...bodyOf({ ...options, email }), tags: options.tag });
        tellWarnings(host, answer);
        return payloadOf(answer);
      };
      const made = options.key
        ? await makingKey(host, command, options.keyFile, async (keep) => {
            const user = await make();
            return { ...user, ...(await makeKey(client, { id: String(user.id), email: user.email }, keep)) };
          })
        : await make();
      await tellAdded(host, made, options.json);
      const key = made.apiKey ?? made.keyFile;
      if (!options.json && key !== undefined) await host.terminal.out(`${plain(key)}\n`);
    });
}

interface AddOptions extends Fields {
  readonly key?: boolean;
  readonly keyFile?: string;
}

interface SetOptions extends Fields {
  readonly untag: readonly string[];
  readonly unset: readonly string[];
  readonly disable?: string | true;
  readonly enable?: boolean;
}

/** `waybeam user set`. */
export function addUserSet(user: Command, host: Host): void {
  const set = user
    .command("set")
    .description("change a user")
    .argument("<user>", "its id or e-mail address")
    .option("--name <name>", "name")
    .option("--email <address>", "e-mail address")
    .option("--country <country>", "ISO code or English name")
    .option("--time-zone <zone>", "time zone, such as America/Bogota");
  withFields(set)
    .option("--untag <key>", "a tag to remove; may be repeated", collect, [])
    .option("--unset <field>", "a field of the API to empty, such as expires or group; may be repeated", collect, [])
    .option("--disable [message]", "let it do nothing, and tell it why")
    .option("--enable", "let it in again")
    .addHelpText(
      "after",
      examples(
        "waybeam user set bo@example.com --privilege write --privilege sendCommands",
        'waybeam user set bo@example.com --disable "left the company"',
        "waybeam user set bo@example.com --enable --unset expires",
      ),
    )
    .action(async (given: string, options: SetOptions, command: Command) => {
      const client = await clientFor(host, command);
      const found = await findUser(client, given);
      const steps = [
        ...setSteps({ ...bodyOf(options), ...stateOf(options) }, options.unset),
        ...(await tagSteps(options, async () => found)),
        ...(options.email !== undefined && client.isOwn(found.email) ? setSteps({ presentSecret: client.secret }) : []),
      ];
      await tellUser(host, await patch(client, userPath(found), steps), options.json);
    });
}

function stateOf({ disable, enable }: SetOptions): { readonly disabled?: boolean; readonly disabledMessage?: unknown } {
  if (enable) return { disabled: false, disabledMessage: null };
  if (disable === undefined) return {};
  return { disabled: true, disabledMessage: disable === true ? null : disable };
}
