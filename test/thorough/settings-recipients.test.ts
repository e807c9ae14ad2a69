import assert from "node:assert/strict";
import { type Beside, type Running, seeThemAct, type Values } from "../support/settings.ts";
import { SmtpPeer } from "../support/smtp-peer.ts";

const mails: SmtpPeer[] = [];
const mailKeys = ["mail.host", "mail.port", "mail.security", "mail.from"];

/** A case with a mail server, which needs a port of its own. */
function mailing(
  own: Values,
  acts: (ask: (to: string) => Promise<unknown>, mail: SmtpPeer, service: Running) => Promise<void>,
) {
  return {
    keys: [...Object.keys(own), ...mailKeys],
    async sets({ closing }: Beside): Promise<Values> {
      const mail = closing(new SmtpPeer());
      mails.push(mail);
      return {
        ...own,
        "mail.host": "127.0.0.1",
        "mail.port": await mail.listen(),
        "mail.security": "opportunistic",
        "mail.from": "alerts@waybeam.example",
      };
    },
    async acts(service: Running): Promise<void> {
      const mail = mails.at(-1);
      assert.ok(mail);
      const ask = async (to: string) => {
        const { status, json } = await service.call("POST", "/api/recipients", { to });
        return status === 200 ? status : json.error;
      };
      await acts(ask, mail, service);
    },
  };
}

seeThemAct("recipients", [
  mailing({ "recipients.url": "https://track.example.com" }, async (ask, mail) => {
    assert.equal(await ask("a@example.org"), 200);
    assert.match(mail.taken[0]?.raw ?? "", /https:\/\/track\.example\.com\/recipients#/);
  }),
  mailing({ "recipients.codesToAddress": 1 }, async (ask) => {
    const asked = [await ask("a@example.org"), await ask("a@example.org"), await ask("b@example.org")];
    assert.deepEqual(asked, [200, "code limit reached", 200]);
  }),
  mailing({ "recipients.codesOfAccount": 1 }, async (ask) => {
    assert.deepEqual([await ask("a@example.org"), await ask("b@example.org")], [200, "code limit reached"]);
  }),
  mailing({ "recipients.perAccount": 1 }, async (ask) => {
    const asked = [await ask("a@example.org"), await ask("b@example.org"), await ask("a@example.org")];
    assert.deepEqual(asked, [200, "recipient limit reached", 200]);
  }),
]);
