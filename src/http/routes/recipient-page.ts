import type { FastifyInstance } from "fastify";

const config = { permission: "public" } as const;
const schema = { hide: true };

/** Nothing but its own script, which asks nobody but this service; in no other page. */
const policy =
  "default-src 'none'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const page = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Alerts</title></head>
<body><main>
<h1 data-text="title">Alerts for you?</h1>
<p data-text="intro">Enter the code of the message that you got.</p>
<form>
<p><label><span data-text="account">Account</span><br><input name="account" size="40" required></label></p>
<p><label><span data-text="to">Your e-mail address or phone number</span><br><input name="to" size="40" required></label></p>
<p><label><span data-text="code">Code</span><br><input name="code" size="12" inputmode="numeric" autocomplete="one-time-code" required></label></p>
<p><button type="button" value="confirm" data-text="accept">Accept alerts</button>
<button type="button" value="refuse" data-text="refuse">Refuse for good</button></p>
</form>
<p role="status"></p>
<noscript>This page needs JavaScript.</noscript>
</main><script src="recipients.js"></script></body></html>
`;

/**
 * What stands behind the # comes to no server: the account and the address are not in its logs. The code is typed, and
 * nothing is sent before a button is pressed.
 */
const script = `"use strict";
const es = {
  title: "¿Alertas para usted?", intro: "Escriba el código del mensaje que recibió.", account: "Cuenta",
  to: "Su correo electrónico o número de teléfono", code: "Código", accept: "Aceptar alertas", refuse: "Rechazar definitivamente",
  confirmed: "Listo: recibirá las alertas.", refused: "Listo: no recibirá alertas.",
  wrong: "El código no es correcto, o ya no sirve.", later: "No fue posible. Intente más tarde.",
};
const en = {
  confirmed: "Done: you will get the alerts.", refused: "Done: you will get no alerts.",
  wrong: "The code is wrong, or can't be used any more.", later: "That did not work. Try again later.",
};
const spanish = navigator.language.startsWith("es");
const texts = spanish ? es : en;
if (spanish) {
  document.documentElement.lang = "es";
  for (const each of document.querySelectorAll("[data-text]")) each.textContent = es[each.dataset.text];
}
const form = document.querySelector("form");
const status = document.querySelector("[role=status]");
const [account = "", to = ""] = location.hash.slice(1).split("/");
form.account.value = account;
try { form.to.value = decodeURIComponent(to); } catch {}
form.addEventListener("submit", (event) => event.preventDefault());
async function send(answer) {
  const body = { account: form.account.value.trim(), to: form.to.value.trim(), code: form.code.value.trim(), answer };
  const reply = await fetch("api/recipients/answer", {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
  });
  if (reply.ok) return texts[(await reply.json()).state];
  return reply.status === 400 || reply.status === 409 ? texts.wrong : texts.later;
}
for (const button of document.querySelectorAll("button"))
  button.addEventListener("click", async () => {
    if (!form.reportValidity()) return;
    status.textContent = await send(button.value).catch(() => texts.later);
  });
`;

/**
 * GET /recipients: the page that messages with a code link to, the same for everybody. It changes nothing; only its
 * buttons send anything.
 */
export function recipientPage(app: FastifyInstance): void {
  const headers = { "content-security-policy": policy, "referrer-policy": "no-referrer" };
  app.get("/recipients", { config, schema, exposeHeadRoute: true }, (_request, reply) =>
    reply.headers(headers).type("text/html; charset=utf-8").send(page),
  );
  app.get("/recipients.js", { config, schema, exposeHeadRoute: true }, (_request, reply) =>
    reply.headers(headers).type("text/javascript; charset=utf-8").send(script),
  );
}
