import type { ChildProcess } from "node:child_process";
import { dataFolder, end, register, removeFolder, startService } from "../test/support/service.ts";
import { avlImeis } from "./support/avl.ts";
import { type Figure, rate } from "./support/figures.ts";
import { program } from "./support/processes.ts";

const connections = 500;
const warmupSeconds = 3;
const seconds = 6;

interface Load {
  readonly rate: number;
  readonly refused: number;
  readonly p50: number;
  readonly p99: number;
}

export async function load(port: number, records: number): Promise<Load> {
  const { child, first } = await program<Load>("avl-load", [port, connections, records, warmupSeconds, seconds]);
  await end(child);
  return first;
}

async function bare(records: number): Promise<Load> {
  const server: { child: ChildProcess; first: { port: number } } = await program("bare-tcp");
  try {
    return await load(server.first.port, records);
  } finally {
    await end(server.child);
  }
}

async function waybeam(records: number): Promise<Load> {
  const directory = dataFolder();
  const service = await startService(directory);
  try {
    await register(service, avlImeis(connections));
    return await load(service.devicePort, records);
  } finally {
    await service.stop();
    removeFolder(directory);
  }
}

/** Positions acknowledged over TCP, fsync on, beside a server that only cuts and answers, taken before and after. */
export async function acknowledged(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { records, limit } of [
    { records: 1, limit: 0.75 },
    { records: 20, limit: 0.7 },
  ]) {
    const before = await bare(records);
    const ours = await waybeam(records);
    const after = await bare(records);
    const reference = (before.rate + after.rate) / 2;
    figures.push({
      name: `acknowledged positions, ${records} a packet, of a bare server`,
      value: ours.rate / reference,
      unit: "",
      limit,
      bound: "at least",
      made: `${rate(ours.rate)} of ${rate(reference)}; p50 ${ours.p50.toFixed(1)} ms, p99 ${ours.p99.toFixed(1)} ms; ${ours.refused} refused`,
    });
  }
  return figures;
}
