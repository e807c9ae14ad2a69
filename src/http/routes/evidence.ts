import type { FastifyInstance } from "fastify";
import { DevicePath, RefusedAnswer, RefusedQuery } from "../../contract/device.ts";
import { IdentityAnswer } from "../../contract/identity.ts";
import { QuarantineAnswer, TraceAnswer, TraceRequest } from "../../contract/operation.ts";
import { PageQuery } from "../../contract/page.ts";
import { formatInstant } from "../../contract/time.ts";
import { listRefused } from "../../domain/refused.ts";
import type { Seen } from "../../ports/presence.ts";
import type { RememberedKnock } from "../../ports/quarantine.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import { jsonOf, pageAnswer } from "../list-answer.ts";
import type { Services } from "../services.ts";

/**
 * What trackers sent that became no location: GET /api/quarantine, GET .../refused, GET .../identity, POST .../trace.
 */
export function evidenceRoutes(app: App, plain: FastifyInstance, services: Services): void {
  quarantineRoute(plain, services);
  refusedRoute(app, services);
  identityRoute(app, services);
  traceRoute(app, services);
}

function quarantineRoute(app: FastifyInstance, services: Services): void {
  const { quarantine } = services;
  app.get<{ Querystring: PageQuery }>(
    "/api/quarantine",
    call({
      operationId: "listQuarantine",
      tag: "Operation",
      summary: "List trackers that connected and are not registered",
      description:
        "The last seen first. They belong to no account, so only the operator and admins of the first account, who run the service, see them. Those that were refused as a registered device (expired, or against its rules) are no part of this list: its account sees them.",
      permission: "service",
      input: { querystring: PageQuery },
      ok: { 200: QuarantineAnswer },
    }),
    async (request, reply) =>
      pageAnswer(request, reply, services, request.query, {
        name: "quarantine",
        scope: ["quarantine"],
        read: async ({ after = Number.POSITIVE_INFINITY, limit }) => {
          const older = quarantine.unknown().filter(({ seq }) => seq < after);
          const items = older.slice(0, limit);
          const last = items.at(-1);
          return { items, ...(last !== undefined && items.length < older.length && { next: last.seq }) };
        },
        text: jsonOf(knockView),
        place: Number,
      }),
  );
}

function knockView({ ids, protocol, address, firstSeen, lastSeen, attempts }: RememberedKnock) {
  return {
    ...{ ids, protocol, address },
    firstSeen: formatInstant(firstSeen),
    lastSeen: formatInstant(lastSeen),
    attempts,
  };
}

function refusedRoute(app: App, { devices, store, cursors }: Services): void {
  app.get(
    "/api/devices/:deviceId/refused",
    call({
      operationId: "listRefused",
      tag: "Devices",
      summary: "List a device's refused reports",
      description:
        "Those whose time or position can't be right: kept as evidence for 90 days and up to 16 MiB, which are settings of the service.",
      permission: "see",
      input: { params: DevicePath, querystring: RefusedQuery },
      ok: { 200: RefusedAnswer },
      errors: ["deviceNotFound"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const device = await devices.find(caller.user, request.params.deviceId);
      return answer(caller, await listRefused({ store: store.refused, cursors }, device, request.query));
    },
  );
}

function identityRoute(app: App, { quarantine, store, devices, presence }: Services): void {
  app.get(
    "/api/devices/:deviceId/identity",
    call({
      operationId: "readIdentity",
      tag: "Devices",
      summary: "See who reports as a device",
      description:
        "The protocols by which it reported, and who said that it is this device and was refused. The latter is kept in memory, so it begins with the service's start.",
      permission: "see",
      input: { params: DevicePath },
      ok: { 200: IdentityAnswer },
      errors: ["deviceNotFound"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const present = await devices.find(caller.user, request.params.deviceId);
      const { id } = present;
      const device = await store.devices.find(id);
      const ways = (device?.spoken ?? []).map(({ since, trustedAt, networks, ...way }) => ({
        ...way,
        since: formatInstant(since),
        trustedSince: trustedAt === null ? null : formatInstant(trustedAt),
        networks: networks.map((seen) => ({ ...seen, since: formatInstant(seen.since) })),
      }));
      const refused = quarantine.ofDevice(id).map(({ ids: _ids, seq: _seq, firstSeen, lastSeen, ...knock }) => ({
        ...knock,
        firstSeen: formatInstant(firstSeen),
        lastSeen: formatInstant(lastSeen),
      }));
      const seen = presence.lastSeen(present);
      const lastSeen = seen === undefined ? null : lastSeenView(seen);
      return answer(caller, { identity: { ways, lastSeen, refused } });
    },
  );
}

function lastSeenView({ protocol, transport, address, at }: Seen) {
  return { protocol, transport, address, dateTime: formatInstant(at) };
}

function traceRoute(app: App, { devices, trace }: Services): void {
  app.post(
    "/api/devices/:deviceId/trace",
    call({
      operationId: "traceDevice",
      tag: "Operation",
      summary: "Trace a device's messages",
      description:
        "Starts the trace, or keeps it on, and gives what it holds after `after`. Nothing is kept of a device that nobody asks for.",
      permission: "admin",
      input: { params: DevicePath, body: TraceRequest },
      ok: { 200: TraceAnswer },
      errors: ["deviceNotFound"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const device = await devices.find(caller.user, request.params.deviceId);
      const entries = trace.follow(device, request.body.after ?? 0).map(({ time, effects, ...entry }) => ({
        ...entry,
        effects: [...effects],
        dateTime: formatInstant(time),
      }));
      return answer(caller, { entries });
    },
  );
}
