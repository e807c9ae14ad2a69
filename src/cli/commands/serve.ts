import { once } from "node:events";
import type { Command } from "commander";
import { examples } from "../context.ts";
import type { Host, Service } from "../host.ts";

/** `waybeam serve`. */
export function addServe(program: Command, host: Host): void {
  program
    .command("serve")
    .description("run the service until Ctrl-C")
    .addHelpText(
      "after",
      examples(
        "waybeam serve",
        "WAYBEAM_HTTP_PORT=9090 WAYBEAM_DATA=/srv/waybeam waybeam serve",
        "waybeam serve --config waybeam.json",
      ),
    )
    .action(async (_options: object, command: Command) => {
      const { config } = command.optsWithGlobals<{ config?: string }>();
      const service = await host.startService(config);
      host.terminal.err(startSummary(service, host.terminal.errIsTty));
      try {
        await untilInterrupted(host.interrupted, service);
      } finally {
        await stop(host, service);
      }
    });
}

/** Stops the service, and says so: a user who pressed Ctrl-C sees that it takes effect, and that it is done. */
export async function stop({ terminal }: Host, service: Service): Promise<void> {
  terminal.err("Stopping ...\n");
  await service.stop();
  terminal.err("Stopped; everything that was acknowledged is stored.\n");
}

/** Waits for the first signal; rejects where the service ends by itself before. */
export async function untilInterrupted(interrupted: AbortSignal, service: Service): Promise<void> {
  const ended = interrupted.aborted ? Promise.resolve() : once(interrupted, "abort");
  await (service.failed ? Promise.race([ended, service.failed]) : ended);
}

/**
 * What a started service says of itself: where things are, and, once, who may use it. Keys go to a terminal (`tty`)
 * only: anything else is kept by somebody, a log for months.
 */
export function startSummary(service: Service, tty: boolean): string {
  return `${whatRuns(service, tty)}${firstPassword(service, tty)}`;
}

/** How the owner gets a password: said by every start until there is one. */
function firstPassword({ firstLink, url, credentialsFile }: Service, tty: boolean): string {
  if (firstLink === undefined) return "";
  if (tty)
    return `Open this page to set the owner's password; the link is good once:
  ${firstLink}

`;
  return `The owner has no password yet: the page ${url}/first#TOKEN sets it, where TOKEN is the firstToken in ${credentialsFile}.

`;
}

function whatRuns({ url, plainAt, devicePort, created, operatorKey, credentialsFile }: Service, tty: boolean): string {
  const places = `
Waybeam is running.
  Console    ${url}
  REST API   ${url}/api   (documentation: ${url}/docs)
  Trackers   port ${devicePort}, TCP and UDP, every protocol
  Stop it with Ctrl-C.
${plainAt === undefined ? "" : plainNote(plainAt)}`;
  if (!created && operatorKey === undefined) return `${places}\n`;
  const first = created ? "This is its first start. " : "";
  const made = [
    ...(created ? ["the API key of the owner"] : []),
    ...(operatorKey === undefined ? [] : ["the operator's key, which makes accounts"]),
  ].join(", and ");
  if (!tty)
    return `${places}
${first}It made ${made}: see ${credentialsFile}, which only its owner can read and where the other commands find it.

`;
  const keys = [
    ...(created ? [`  User name     ${created.userName}`, `  API key       ${created.apiKey}`] : []),
    ...(operatorKey === undefined ? [] : [`  Operator key  ${operatorKey}   (makes accounts)`]),
  ];
  return `${places}
${first}Keep what follows, no key is shown again:
${keys.join("\n")}
It is also in ${credentialsFile}, where the other commands find it.

`;
}

/**
 * Trackers and people come from other machines, so the service listens to all of them unless told otherwise; that keys
 * cross the network in the clear is for the operator to know.
 */
function plainNote(host: string): string {
  const everywhere = host === "0.0.0.0" || host === "::" ? "every address of this machine" : host;
  return `
The API is plain HTTP on ${everywhere}: keys and tokens can be read on the way. For HTTPS see docs/network.md.
To let only this machine use it, set WAYBEAM_HTTP_HOST=127.0.0.1.
`;
}
