import type { FailureCause } from "../model/effects.ts";
import type { KnockCause } from "../model/knock.ts";
import type { Counter, Metrics } from "../ports/metrics.ts";
import type { AnyProtocol } from "../wire/protocol.ts";
import type { Refusal } from "./exchange.ts";
import type { CloseCause } from "./types.ts";

/** Handles of one protocol, made once, so that a message costs additions only. */
export interface ProtocolCounters {
  readonly frames: Counter;
  readonly reports: Counter;
  readonly acks: Counter;
  readonly quarantined: Counter;
  readonly failures: Readonly<Record<FailureCause, Counter>>;
  /** Reports that were not taken. */
  readonly refused: Readonly<Record<Refusal, Counter>>;
  /** Times that somebody said it is a device and was turned away. */
  readonly turned: Readonly<Record<Exclude<KnockCause, "checksum"> | "limited", Counter>>;
  readonly skippedBytes: Counter;
}

/** All counters of the gateway. */
export interface Counters {
  readonly protocol: (protocol: AnyProtocol) => ProtocolCounters;
  readonly opened: Readonly<Record<"tcp" | "udp", Counter>>;
  readonly received: Readonly<Record<"tcp" | "udp", Counter>>;
  readonly closed: (cause: CloseCause) => Counter;
  /** Datagrams that were not even decoded. */
  readonly dropped: Readonly<
    Record<"tooLong" | "unknownProtocol" | "congested" | "asking" | "memory" | "waiting" | "rate" | "stopping", Counter>
  >;
  /** How often a connection was left unread for a while. */
  readonly paused: Readonly<Record<"busy" | "memory" | "rate", Counter>>;
}

/** Registers the gateway's metrics. */
export function createCounters(metrics: Metrics): Counters {
  const opened = metrics.counter("waybeam_connections_opened_total", "Connections accepted, and UDP peers.", [
    "transport",
  ]);
  const received = metrics.counter("waybeam_received_bytes_total", "Bytes received from trackers.", ["transport"]);
  const closed = metrics.counter(
    "waybeam_connections_closed_total",
    "Connections and UDP peers that ended, by cause.",
    ["cause"],
  );
  const dropped = metrics.counter("waybeam_datagrams_dropped_total", "Datagrams that were not read.", ["cause"]);
  const paused = metrics.counter("waybeam_socket_pauses_total", "Times that a connection was not read for a while.", [
    "cause",
  ]);
  const forProtocol = protocolCounters(metrics);
  const byProtocol = new Map<string, ProtocolCounters>();
  const byCause = new Map<CloseCause, Counter>();
  return {
    protocol: (protocol) => remembered(byProtocol, protocol.id, () => forProtocol(protocol.id)),
    opened: { tcp: opened({ transport: "tcp" }), udp: opened({ transport: "udp" }) },
    received: { tcp: received({ transport: "tcp" }), udp: received({ transport: "udp" }) },
    closed: (cause) => remembered(byCause, cause, () => closed({ cause })),
    dropped: {
      tooLong: dropped({ cause: "tooLong" }),
      unknownProtocol: dropped({ cause: "unknownProtocol" }),
      congested: dropped({ cause: "congested" }),
      asking: dropped({ cause: "asking" }),
      memory: dropped({ cause: "memory" }),
      waiting: dropped({ cause: "waiting" }),
      rate: dropped({ cause: "rate" }),
      stopping: dropped({ cause: "stopping" }),
    },
    paused: { busy: paused({ cause: "busy" }), memory: paused({ cause: "memory" }), rate: paused({ cause: "rate" }) },
  };
}

function protocolCounters(metrics: Metrics): (protocol: string) => ProtocolCounters {
  const frames = metrics.counter("waybeam_frames_total", "Whole messages received.", ["protocol"]);
  const reports = metrics.counter("waybeam_reports_total", "Fixes and readings handed to ingest.", ["protocol"]);
  const acks = metrics.counter("waybeam_acks_total", "Messages acknowledged after their reports were stored.", [
    "protocol",
  ]);
  const quarantined = metrics.counter("waybeam_quarantined_total", "Identifications by unknown devices.", ["protocol"]);
  const failures = metrics.counter("waybeam_decode_failures_total", "Messages that could not be used.", [
    "protocol",
    "cause",
  ]);
  const refused = metrics.counter("waybeam_reports_refused_total", "Fixes and readings not taken.", [
    "protocol",
    "cause",
  ]);
  const turned = metrics.counter("waybeam_identifications_refused_total", "Trackers that were turned away.", [
    "protocol",
    "cause",
  ]);
  const skipped = metrics.counter("waybeam_skipped_bytes_total", "Bytes that belong to no message.", ["protocol"]);
  return (protocol) => ({
    frames: frames({ protocol }),
    reports: reports({ protocol }),
    acks: acks({ protocol }),
    quarantined: quarantined({ protocol }),
    failures: {
      malformed: failures({ protocol, cause: "malformed" }),
      badChecksum: failures({ protocol, cause: "badChecksum" }),
      unsupported: failures({ protocol, cause: "unsupported" }),
      notIdentified: failures({ protocol, cause: "notIdentified" }),
    },
    refused: {
      unknown: refused({ protocol, cause: "unknown" }),
      expired: refused({ protocol, cause: "expired" }),
      barred: refused({ protocol, cause: "barred" }),
      limited: refused({ protocol, cause: "limited" }),
      notIdentified: refused({ protocol, cause: "notIdentified" }),
      changed: refused({ protocol, cause: "changed" }),
    },
    turned: {
      unknown: turned({ protocol, cause: "unknown" }),
      expired: turned({ protocol, cause: "expired" }),
      protocol: turned({ protocol, cause: "protocol" }),
      network: turned({ protocol, cause: "network" }),
      secret: turned({ protocol, cause: "secret" }),
      limited: turned({ protocol, cause: "limited" }),
    },
    skippedBytes: skipped({ protocol }),
  });
}

function remembered<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  let value = known.get(key);
  if (value === undefined) {
    value = make();
    known.set(key, value);
  }
  return value;
}
