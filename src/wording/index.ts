export { alertText, wordsOf } from "./alert-text.ts";
export { bodyOf, slackOf, teamsOf, telegramOf } from "./chat.ts";
export { letterOf } from "./letter.ts";
export { type MailWords, mailOf } from "./mail.ts";
export { defaultMapLink, mapLink, problemOfMapLink } from "./map-link.ts";
export { type Told, templateValues, toldText } from "./notice.ts";
export { type Question, questionMail, questionSms } from "./question.ts";
export type { Reader } from "./show.ts";
export { smsOf } from "./sms.ts";
export {
  bodyPlaceholders,
  fillTemplate,
  type Placeholder,
  placeholders,
  problemsOfBody,
  type TemplateValues,
  unknownPlaceholders,
} from "./template.ts";
export { type WebhookType, type WebhookWords, webhookOf } from "./webhook.ts";
