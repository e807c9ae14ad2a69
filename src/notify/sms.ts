import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Metrics } from "../ports/metrics.ts";
import type { SmsSender } from "../ports/sms.ts";
import { type HttpOptions, HttpSender } from "./http-sender.ts";
import { SmppSender } from "./smpp-sender.ts";

/** The settings `sms.*`. */
export interface SmsSettings {
  readonly kind: "none" | "smpp" | "http";
  readonly timeoutSeconds: number;
  readonly maxParts: number;
  readonly smpp: {
    readonly host: string;
    readonly port: number;
    readonly tls: "off" | "on";
    readonly systemId: string;
    readonly password: string;
    readonly systemType: string;
    readonly source: string;
    readonly window: number;
    readonly enquireSeconds: number;
  };
  readonly http: HttpOptions & { readonly allowPrivate: "off" | "on" };
}

/** What the senders need of the rest. */
export interface SmsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Pauses between tries to connect: soon after a break, and rarely enough for a gateway that is down for long. */
const firstPauseMs = 1000;
const mostPauseMs = 60_000;
/** Pause after the gateway asked for less: its limits are so many a second. */
const throttleMs = 1000;

/**
 * The sender for the configured gateway, counted in the metrics; undefined where none is configured. One that speaks
 * SMPP connects at once.
 */
export function createSmsSender(settings: SmsSettings, deps: SmsDeps): SmsSender | undefined {
  const timeoutMs = settings.timeoutSeconds * 1000;
  if (settings.kind === "none") return undefined;
  if (settings.kind === "http") {
    const allowPrivate = settings.http.allowPrivate === "on";
    return counted(new HttpSender(settings.http, { allowPrivate, timeoutMs }, deps.log), deps.metrics);
  }
  const { tls, enquireSeconds, ...smpp } = settings.smpp;
  const sender = new SmppSender(
    {
      ...smpp,
      tls: tls === "on",
      enquireMs: enquireSeconds * 1000,
      answerMs: timeoutMs,
      maxParts: settings.maxParts,
      firstPauseMs,
      mostPauseMs,
      throttleMs,
    },
    deps,
  );
  deps.metrics.gauge("waybeam_sms_connected", "Whether the SMPP gateway has bound us.", () => Number(sender.connected));
  return counted(sender, deps.metrics);
}

function counted(sender: SmsSender, metrics: Metrics): SmsSender {
  const sent = metrics.counter("waybeam_sms_total", "SMS by what the gateway said of them.", ["outcome"]);
  const receipts = metrics.counter("waybeam_sms_receipts_total", "Delivery receipts by final state.", ["state"]);
  sender.onReceipt(async ({ delivered }) => receipts({ state: delivered ? "delivered" : "failed" }).add(1));
  return {
    binary: sender.binary,
    parts: (body) => sender.parts(body),
    async send(to, body) {
      const result = await sender.send(to, body);
      sent({ outcome: result.outcome }).add(1);
      return result;
    },
    onReceipt: (listener) => sender.onReceipt(listener),
    close: () => sender.close(),
  };
}
