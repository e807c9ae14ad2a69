import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeviceCommit } from "../../model/commit.ts";
import type { NewNotice, NoticeTarget } from "../../model/notice.ts";
import type { Vault } from "../secrets/vault.ts";
import { alertRows, sealedAtOnce } from "./alert-rows.ts";

const webhook: NoticeTarget = { channel: "webhook", url: "https://example.com", secret: "" };

function notices(count: number, target: NoticeTarget): readonly NewNotice[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `${target.channel} ${at}`,
    alertId: "alert",
    device: 1,
    target,
    state: "queued",
    reason: null,
    creation: 0,
    dueAt: 0,
  }));
}

test("the event loop serves others while hundreds of webhooks are encrypted, and the rows keep their order", async () => {
  let turn = 0;
  let ended = false;
  const count = () => {
    turn++;
    if (!ended) setImmediate(count);
  };
  setImmediate(count);
  const sealedIn: number[] = [];
  const vault: Vault = {
    current: "key",
    seal(text) {
      sealedIn.push(turn);
      return text;
    },
    open: (stored) => stored,
  };
  const all = [notices(50, webhook), notices(300, webhook)];
  const devices = all.map((some, device) => ({ device, notices: some }) as unknown as DeviceCommit);
  const rows = await alertRows({ devices }, vault);
  ended = true;
  assert.deepEqual(
    rows.notices.map(({ id }) => id),
    all.flat().map(({ id }) => id),
  );
  for (const own of new Set(sealedIn)) assert.ok(sealedIn.filter((one) => one === own).length <= sealedAtOnce);
});
