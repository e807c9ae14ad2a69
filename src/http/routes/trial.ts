import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { TrialLine, TrialRequest } from "../../contract/trial.ts";
import type { TrialLines } from "../../domain/trials.ts";
import { historyBytes } from "../answers.ts";
import { call } from "../call.ts";
import { callerOf } from "../envelope.ts";
import type { Services } from "../services.ts";

const contentType = "application/x-ndjson";

/** POST /api/alertRules/try. */
export function trialRoute(app: FastifyInstance, { trials, answers }: Services): void {
  app.post<{ Body: TrialRequest }>(
    "/api/alertRules/try",
    call({
      operationId: "tryAlertRule",
      tag: "Alerts",
      summary: "Run an alert rule over a device's history",
      description:
        "Answers what it would have found, as lines of JSON that come while it runs: alerts with their evidence, how far it has come, and a last line that says that it is done or what failed. Nobody is told and nothing is stored. The positions that are read count to the device's daily results.",
      permission: "see",
      input: { body: TrialRequest },
      ok: { 200: { description: "One JSON object a line.", content: { [contentType]: { schema: TrialLine } } } },
      errors: ["deviceNotFound", "alertRuleNotFound", "invalidInput", "dailyResults"],
    }),
    async (request, reply) => {
      const caller = callerOf(request);
      answers.hold(reply, historyBytes);
      const lines = await trials.open(caller.user, request.body, caller);
      // The request was answered with 408 meanwhile: nobody will read this.
      if (reply.sent) return void (await lines.return());
      reply.header("content-type", contentType);
      // A client that goes away ends the stream, and with it the reading.
      return Readable.from(written(lines), { objectMode: false });
    },
  );
}

async function* written(lines: TrialLines): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`;
}
