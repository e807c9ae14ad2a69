import type { Language } from "../model/language.ts";
import { plainLetters } from "./gsm.ts";
import { escapeHtml, oneLine } from "./html.ts";
import { type MailWords, page } from "./mail.ts";
import { shortened } from "./shorten.ts";

/** What somebody outside an account is asked. */
export interface Question {
  readonly account: { readonly id: string; readonly name: string };
  readonly language: Language;
  readonly code: string;
  /** What the service is called. */
  readonly service: string;
  /** Where the recipient answers; undefined: there is no such page. */
  readonly link: string | undefined;
}

/** An account chooses its name: it is no place for a message of its own. */
const longestName = 40;

interface Words {
  readonly subject: (name: string) => string;
  readonly wish: (name: string, service: string) => string;
  readonly accept: (name: string, code: string) => string;
  readonly answer: string;
  readonly refuseByReply: string;
  readonly nothing: string;
  readonly account: string;
  readonly sms: (name: string, service: string, code: string) => string;
  readonly smsRefuse: (link: string) => string;
  readonly smsNothing: string;
}

const en: Words = {
  subject: (name) => `${name} wants to send you alerts`,
  wish: (name, service) => `${name} wants to send alerts about its vehicles to this address by ${service}.`,
  accept: (name, code) => `If you want them, give ${name} this code: ${code}`,
  answer: "You can also accept or refuse them with the code on this page:",
  refuseByReply:
    "To refuse them for good, reply to this e-mail and leave the code in it: the operator of the service enters your refusal.",
  nothing: "If you do nothing, no alerts are sent to you. The code can be used for seven days.",
  account: "Account",
  sms: (name, service, code) => `${name} wants to send you alerts by ${service}. Code to accept: ${code}.`,
  smsRefuse: (link) => `To refuse: ${link}`,
  smsNothing: "To refuse, do nothing.",
};

const es: Words = {
  subject: (name) => `${name} quiere enviarle alertas`,
  wish: (name, service) => `${name} quiere enviar alertas de sus vehículos a esta dirección por ${service}.`,
  accept: (name, code) => `Si desea recibirlas, dele este código a ${name}: ${code}`,
  answer: "También puede aceptarlas o rechazarlas con el código en esta página:",
  refuseByReply:
    "Para rechazarlas definitivamente, responda a este correo y deje el código en él: el operador del servicio registra su rechazo.",
  nothing: "Si no hace nada, no se le envían alertas. El código sirve durante siete días.",
  account: "Cuenta",
  sms: (name, service, code) => `${name} quiere enviarle alertas por ${service}. Codigo para aceptar: ${code}.`,
  smsRefuse: (link) => `Para rechazar: ${link}`,
  smsNothing: "Para rechazar, no haga nada.",
};

const words: { readonly [L in Language]: Words } = { en, es };

/** Without what mail programs and phones would take for an address and link to. */
function nameOf({ name }: Question["account"]): string {
  return shortened(oneLine(oneLine(name).replaceAll(/[./:@\\<>]/g, " ")), longestName);
}

/** The question as an e-mail. */
export function questionMail({ account, language, code, service, link }: Question): MailWords {
  const said = words[language];
  const name = nameOf(account);
  const before = [said.wish(name, service), said.accept(name, code), ...(link === undefined ? [] : [said.answer])];
  const after = [
    ...(link === undefined ? [said.refuseByReply] : []),
    said.nothing,
    `${said.account}: ${name} (${account.id})`,
  ];
  const paragraph = (html: string) => `<p style="margin:0 0 16px">${html}</p>`;
  const linked = link === undefined ? [] : [`<a href="${escapeHtml(link)}">${escapeHtml(link)}</a>`];
  return {
    subject: said.subject(name),
    text: `${[...before, ...(link === undefined ? [] : [link]), ...after].join("\n\n")}\n`,
    html: page(language, said.subject(name), [
      ...before.map((line) => paragraph(escapeHtml(line))),
      ...linked.map(paragraph),
      ...after.map((line) => paragraph(escapeHtml(line))),
    ]),
  };
}

/** The question as an SMS. */
export function questionSms({ account, language, code, service, link }: Question): string {
  const said = words[language];
  const refuse = link === undefined ? said.smsNothing : said.smsRefuse(link);
  return plainLetters(`${said.sms(nameOf(account), service, code)} ${refuse}`);
}
