import type { Command } from "commander";
import { clientFor, examples } from "../context.ts";
import type { Host } from "../host.ts";
import { keyFileOption, makingKey } from "../new-key.ts";
import { listIn, printLines, printOne } from "../print.ts";
import { plain, table } from "../text.ts";
import { findUser, makeKey, tellUser, userPath } from "../users.ts";
import { addUserAdd, addUserSet } from "./user-change.ts";

/** `waybeam user ...`: the account's users and their API keys. */
export function addUser(program: Command, host: Host): void {
  const user = program.command("user").description("list, make, change and remove users and their API keys");
  addList(user, host);
  addUserAdd(user, host);
  addShow(user, host);
  addUserSet(user, host);
  addRemove(user, host);
  addKey(user, host);
}

function addList(user: Command, host: Host): void {
  user
    .command("list")
    .description("list the users of the account")
    .option("--json", "JSON Lines, one user each, as the API gives it")
    .addHelpText("after", examples("waybeam user list", "waybeam user list --json | jq -r .email"))
    .action(async (options: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const users = listIn(await client.call("GET", "/api/users"), "users");
      if (options.json) return await printLines(host, users);
      const rows = users.map(({ id, email, name, privileges, group, deviceId, disabled, expires }) => [
        plain(id),
        plain(email),
        plain(name),
        Array.isArray(privileges) ? privileges.map(plain).join(",") : "",
        plain(group) || plain(deviceId),
        disabled === true ? "disabled" : plain(expires) || "never",
      ]);
      await host.terminal.out(table(["ID", "E-MAIL", "NAME", "PRIVILEGES", "SEES", "EXPIRES"], rows));
    });
}

function addShow(user: Command, host: Host): void {
  user
    .command("show")
    .description("show a user")
    .argument("<user>", "its id or e-mail address")
    .option("--json", "JSON, as the API gives it")
    .addHelpText("after", examples("waybeam user show ana@example.com"))
    .action(async (given: string, options: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      await tellUser(host, await client.call("GET", userPath(await findUser(client, given))), options.json);
    });
}

function addRemove(user: Command, host: Host): void {
  user
    .command("remove")
    .description("remove users; their tokens end at once")
    .argument("<user...>", "ids or e-mail addresses")
    .addHelpText("after", examples("waybeam user remove ana@example.com"))
    .action(async (given: string[], _options: object, command: Command) => {
      const client = await clientFor(host, command);
      for (const each of given) {
        const found = await findUser(client, each);
        await client.call("DELETE", userPath(found));
        host.terminal.err(`removed ${plain(found.email)}\n`);
      }
    });
}

function addKey(user: Command, host: Host): void {
  user
    .command("key")
    .description("make a user's API key; the one before and its tokens end at once")
    .argument("<user>", "its id or e-mail address")
    .option("--remove", "end the key and make none")
    .addOption(keyFileOption().conflicts("remove"))
    .option("--json", "JSON, as the API gives it, with the file of the key in its place where it is not shown")
    .addHelpText("after", examples("waybeam user key ana@example.com", "waybeam user key ana@example.com --remove"))
    .action(async (given: string, options: KeyOptions, command: Command) => {
      const client = await clientFor(host, command);
      const found = await findUser(client, given);
      if (options.remove) {
        await client.call("DELETE", `${userPath(found)}/apiKey`);
        host.terminal.err(`${plain(found.email)} has no API key any longer\n`);
      } else {
        const made = await makingKey(host, command, options.keyFile, (keep) => makeKey(client, found, keep));
        if (options.json) await printOne(host, made, true);
        else await host.terminal.out(`${plain(made.apiKey ?? made.keyFile)}\n`);
      }
    });
}

interface KeyOptions {
  readonly remove?: boolean;
  readonly keyFile?: string;
  readonly json?: boolean;
}
