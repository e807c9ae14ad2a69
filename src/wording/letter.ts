import type { Language } from "../model/language.ts";
import type { Letter, LetterKind } from "../model/letter.ts";
import { escapeHtml, oneLine } from "./html.ts";
import { type MailWords, page } from "./mail.ts";
import { showFor } from "./show.ts";

/** What a letter says in one language. */
interface LetterWords {
  readonly subject: { readonly [K in LetterKind]: string };
  /** What follows from it. */
  readonly meaning: { readonly [K in LetterKind]: (userName: string) => string };
  readonly done: (moment: string, by: string) => string;
  readonly operator: string;
  readonly unexpected: string;
}

const en: LetterWords = {
  subject: {
    keyReplaced: "Your API key was replaced",
    keyEnded: "Your API key was deleted",
    emailChanged: "Your user name was changed",
    passwordChanged: "Your password was changed",
    factorSet: "Your second factor was set up",
    factorEnded: "Your second factor was removed",
  },
  meaning: {
    keyReplaced: (user) => `The API key of ${user} was replaced. The key before it and its tokens no longer work.`,
    keyEnded: (user) => `The API key of ${user} was deleted. It and its tokens no longer work.`,
    emailChanged: (user) =>
      `Your e-mail address, which is your user name, is now ${user}. The API key is still the same.`,
    passwordChanged: (user) => `The password of ${user} was changed.`,
    factorSet: (user) => `Signing in as ${user} now asks for a code of an authenticator app.`,
    factorEnded: (user) => `Signing in as ${user} no longer asks for a code.`,
  },
  done: (moment, by) => `Changed ${moment} by ${by}.`,
  operator: "the operator of the service",
  unexpected: "If you did not expect this, tell an administrator of your account at once.",
};

const es: LetterWords = {
  subject: {
    keyReplaced: "Su clave de API fue reemplazada",
    keyEnded: "Su clave de API fue eliminada",
    emailChanged: "Su nombre de usuario fue cambiado",
    passwordChanged: "Su contraseña fue cambiada",
    factorSet: "Su segundo factor fue activado",
    factorEnded: "Su segundo factor fue eliminado",
  },
  meaning: {
    keyReplaced: (user) => `La clave de API de ${user} fue reemplazada. La clave anterior y sus tokens ya no sirven.`,
    keyEnded: (user) => `La clave de API de ${user} fue eliminada. La clave y sus tokens ya no sirven.`,
    emailChanged: (user) =>
      `Su dirección de correo, que es su nombre de usuario, ahora es ${user}. La clave de API sigue siendo la misma.`,
    passwordChanged: (user) => `La contraseña de ${user} fue cambiada.`,
    factorSet: (user) => `Para entrar como ${user} ahora se pide un código de una aplicación de autenticación.`,
    factorEnded: (user) => `Para entrar como ${user} ya no se pide un código.`,
  },
  done: (moment, by) => `Cambio hecho el ${moment} por ${by}.`,
  operator: "el operador del servicio",
  unexpected: "Si no esperaba este cambio, avise de inmediato a un administrador de su cuenta.",
};

const words: { readonly [L in Language]: LetterWords } = { en, es };

/** Words a letter as an e-mail, in its reader's language. */
export function letterOf({ kind, language, timeZone, at, by, userName }: Letter): MailWords {
  const said = words[language];
  const moment = showFor({ language, timeZone, units: "metric" }).moment(at);
  const lines = [
    said.meaning[kind](oneLine(userName)),
    said.done(moment, by === null ? said.operator : oneLine(by)),
    said.unexpected,
  ];
  const subject = `Waybeam: ${said.subject[kind]}`;
  return {
    subject,
    text: `${lines.join("\n\n")}\n`,
    html: page(
      language,
      subject,
      lines.map((line) => `<p style="margin:0 0 16px">${escapeHtml(line)}</p>`),
    ),
  };
}
