import type { FastifyInstance, RouteOptions } from "fastify";
import { permissions } from "../../auth/permission.ts";
import type { Counter, Histogram } from "../../ports/metrics.ts";
import { within } from "../deadline.ts";
import { RecordTurns } from "../record-turns.ts";
import type { Services } from "../services.ts";
import type { Gate } from "./gate.ts";

/**
 * Upper bounds of the buckets of answer times, seconds: a cached answer takes well under a millisecond, a long
 * history's first byte some.
 */
const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];

/** Counts and times an answer when it begins to be sent. */
export type Measure = (method: string, route: string, code: number, startedAt: number) => void;

/**
 * Stands before and after every route: the gate, the turns of large records, the time limit, the metrics. A route that
 * does not declare its permission stops the start.
 */
export function wrapRoutes(app: FastifyInstance, gate: Gate, measure: Measure, timeoutMs: number): void {
  const turns = new RecordTurns();
  app.addHook("onRoute", (route) => {
    const permission = route.config?.permission;
    if (permission === undefined || !permissions.includes(permission))
      throw new Error(`route ${String(route.method)} ${route.url} declares no permission`);
    route.onRequest = [gate.guard(permission), ...[route.onRequest ?? []].flat()];
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      (request, reply, payload, done) => {
        measure(request.method, route.url, reply.statusCode, request.startedAt);
        done(null, payload);
      },
    ];
    if (route.config?.record === true) takeTurns(route, turns);
    limitTime(route, timeoutMs);
  });
}

function takeTurns(route: RouteOptions, turns: RecordTurns): void {
  const { handler } = route;
  route.handler = function inTurn(request, reply) {
    const waits = turns.take(request, reply);
    return waits === undefined
      ? handler.call(this, request, reply)
      : waits.then(() => handler.call(this, request, reply));
  };
  route.onSend = [
    ...[route.onSend ?? []].flat(),
    (request, _reply, payload, done) => {
      turns.end(request, typeof payload === "string" ? payload.length : 0);
      done(null, payload);
    },
  ];
}

/** Limits the time of a handler that answers later. */
function limitTime(route: RouteOptions, timeoutMs: number): void {
  const { handler } = route;
  route.handler = function limited(request, reply) {
    const result = handler.call(this, request, reply);
    return result instanceof Promise ? within(result, timeoutMs) : result;
  };
}

/** What is counted of one route: its counters by method and code. */
interface RouteSeries {
  readonly timing: Histogram;
  readonly counters: Map<string, Map<number, Counter>>;
}

/** Metrics of the API by route and code. */
export function createMeasure({ metrics, clock }: Pick<Services, "metrics" | "clock">): Measure {
  const requests = metrics.counter("waybeam_http_requests_total", "Requests answered", ["method", "route", "code"]);
  const seconds = metrics.histogram("waybeam_http_seconds", "Time to the beginning of the answer", ["route"], buckets);
  const routes = new Map<string, RouteSeries>();

  function seriesOf(route: string): RouteSeries {
    const made = { timing: seconds({ route }), counters: new Map() };
    routes.set(route, made);
    return made;
  }

  function counterOf({ counters }: RouteSeries, method: string, route: string, code: number): Counter {
    const codes = counters.get(method) ?? new Map<number, Counter>();
    const counter = codes.get(code);
    if (counter !== undefined) return counter;
    const made = requests({ method, route, code: String(code) });
    counters.set(method, codes.set(code, made));
    return made;
  }

  return (method, route, code, startedAt) => {
    const series = routes.get(route) ?? seriesOf(route);
    counterOf(series, method, route, code).add(1);
    series.timing.observe((clock.monotonic() - startedAt) / 1000);
  };
}
