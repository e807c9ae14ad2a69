import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { end, type Service } from "../../test/support/service.ts";
import { program } from "./processes.ts";

/** Keep-alive connections of a load. */
const connections = 64;
const warmupSeconds = 2;
const measuredSeconds = 5;

/** What a load over HTTP came to: answers a second, and times from asking to the whole answer, ms. */
export interface Load {
  readonly rate: number;
  readonly failures: number;
  readonly p50: number;
  readonly p99: number;
}

/**
 * Asks for the paths in turn on 64 connections for some seconds. `token`: of every request, or `@FILE` with one a line,
 * used in turn.
 */
export async function load(
  port: number,
  token: string,
  paths: readonly string[],
  seconds = measuredSeconds,
): Promise<Load> {
  const { child, first } = await program<Load>("http-load", [
    port,
    connections,
    Math.min(warmupSeconds, seconds),
    seconds,
    token,
    ...paths,
  ]);
  await end(child);
  return first;
}

/** Port of the service's API. */
export function portOf(service: Service): number {
  return Number(new URL(service.url).port);
}

/** Headers that say the same on any server and are written by it. */
const own = new Set(["date", "connection", "keep-alive"]);

/** A bare node:http server that sends what the service answers to a path. */
export interface Bare {
  load(seconds?: number): Promise<Load>;
  end(): Promise<unknown>;
}

export async function startBare(service: Service, path: string): Promise<Bare> {
  const answer = await fetch(service.url + path, { headers: { authorization: `Bearer ${service.token}` } });
  const body = Buffer.from(await answer.arrayBuffer());
  const file = join(service.directory, "bare-answer.json");
  writeFileSync(file, body);
  const headers = [...answer.headers].filter(([name]) => !own.has(name)).map(([name, value]) => `${name}: ${value}`);
  const server = await program<{ port: number }>("bare-http", [file, ...headers]);
  return {
    load: (seconds) => load(server.first.port, service.token, [path], seconds),
    end: () => end(server.child),
  };
}

/** One load on a bare server of its own. */
export async function bare(service: Service, path: string): Promise<Load> {
  const server = await startBare(service, path);
  try {
    return await server.load();
  } finally {
    await server.end();
  }
}
