// npm run bench [-- NAME ...]: measures and prints each figure beside its limit; exit code 1 where one is missed.
import { acknowledged } from "./acknowledged.ts";
import { alerts } from "./alerts.ts";
import { api } from "./api.ts";
import { append } from "./append.ts";
import { backlog } from "./backlog.ts";
import { consoleMap } from "./console.ts";
import { consolePage } from "./console-page.ts";
import { day } from "./day.ts";
import { decode } from "./decode.ts";
import { fleet } from "./fleet.ts";
import { history } from "./history.ts";
import { idle } from "./idle.ts";
import { lastLocation } from "./last-location.ts";
import { late } from "./late.ts";
import { million } from "./million.ts";
import { postgres } from "./postgres.ts";
import { size } from "./size.ts";
import { stored } from "./stored.ts";
import { streams } from "./streams.ts";
import { type Figure, kept, line } from "./support/figures.ts";
import { told } from "./told.ts";
import { trials } from "./trial.ts";
import { written } from "./written.ts";

const benches: Readonly<Record<string, () => Promise<readonly Figure[]>>> = {
  decode,
  append,
  acknowledged,
  late,
  backlog,
  written,
  lastLocation,
  api,
  alerts,
  history,
  trials,
  told,
  streams,
  day,
  stored,
  million,
  fleet,
  size,
  postgres,
  consoleMap,
  consolePage,
  idle,
};
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => benches[name] === undefined);
if (unknown.length > 0) {
  process.stderr.write(`no bench ${unknown.join(", ")}; there are: ${Object.keys(benches).join(", ")}\n`);
  process.exit(2);
}
let missed = 0;
for (const [name, bench] of Object.entries(benches)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  process.stderr.write(`measuring ${name} ...\n`);
  for (const figure of await bench()) {
    process.stdout.write(`${line(figure)}\n`);
    if (!kept(figure)) missed++;
  }
}
process.exit(missed > 0 ? 1 : 0);
