import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { atEnd } from "../support/at-end.ts";
import { storeEnvironment } from "../support/engine.ts";
import { anyPorts, end, folderOf, placesOf } from "../support/service.ts";

const program = join(import.meta.dirname, "../../waybeam");
const token = "metrics-of-this-test-and-no-others";

type Output = "pipe" | number;

async function started(context: TestContext, out: Output, err: Output): Promise<ChildProcess> {
  const directory = folderOf(context);
  const child = spawn(program, ["serve"], {
    stdio: ["ignore", out, err],
    env: {
      ...process.env,
      ...anyPorts,
      ...(await storeEnvironment(directory)),
      WAYBEAM_DATA: directory,
      WAYBEAM_LOG_LEVEL: "debug",
      WAYBEAM_METRICS_TOKEN: token,
    },
  });
  atEnd(() => end(child, "SIGKILL"));
  return child;
}

/** Lines of the log that a service says it has lost. */
async function lostLines(url: string): Promise<number> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  return Number(/^waybeam_log_lines_lost_total (\d+)$/m.exec(await answer.text())?.[1]);
}

/** An unknown tracker knocks, of which the log of this level says something. */
async function knock(devicePort: number): Promise<void> {
  await (await fetch(`http://127.0.0.1:${devicePort}/?id=123456789012345&lat=1&lon=1`)).text();
}

test("a full disk under the log file stops no service; the lost lines are counted", async (context) => {
  // A write to this device fails as one to a full disk does.
  const full = openSync("/dev/full", "w");
  context.after(() => closeSync(full));
  const child = await started(context, full, "pipe");
  const { url, devicePort } = await placesOf(child);
  await knock(devicePort);
  assert.ok((await lostLines(url)) > 0);
  assert.equal(await end(child), 0);
});

test("readers that close stop no service, and it ends in order", async (context) => {
  const child = await started(context, "pipe", "pipe");
  const { url, devicePort } = await placesOf(child);
  assert.equal(await lostLines(url), 0);
  child.stdout?.destroy();
  child.stderr?.destroy();
  await knock(devicePort);
  await knock(devicePort);
  assert.ok((await lostLines(url)) > 0);
  assert.equal(await end(child), 0);
});

test("a command whose reader closes ends quietly; one that can't write its output says so", async () => {
  const run = async (command: string) => {
    const child = spawn("bash", ["-o", "pipefail", "-c", command, "bash", program], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    const code = await new Promise((resolve) => child.once("close", resolve));
    return { code, said };
  };
  assert.deepEqual(await run('"$1" config --json | head -c 1'), { code: 0, said: "" });
  assert.deepEqual(await run('"$1" --help 2>&1 | true'), { code: 0, said: "" });
  assert.deepEqual(await run('"$1" config > /dev/full'), {
    code: 1,
    said: "waybeam: can't write the output (ENOSPC)\n",
  });
});
