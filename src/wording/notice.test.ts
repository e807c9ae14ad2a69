import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { encodeSms } from "../notify/sms-parts.ts";
import { fitsSms } from "./gsm.ts";
import { mailOf, type Reader, smsOf, type Told, toldText, webhookOf } from "./index.ts";
import { mapLink, problemOfMapLink } from "./map-link.ts";

const bogota: Reader = { language: "en", timeZone: "America/Bogota", units: "metric" };
const madrid: Reader = { language: "es", timeZone: "Europe/Madrid", units: "metric" };
const map = "https://map.example/?at={latitude},{longitude}&mark";

const told: Told = {
  alert: {
    id: "5b0c",
    ruleKey: 1,
    ruleId: "77aa",
    name: "Too fast",
    type: "speedOver",
    phase: "raised",
    time: Date.UTC(2026, 10, 21, 10, 29),
    raisedAt: Date.UTC(2026, 10, 21, 10, 29, 1),
    latitude: 4.711,
    longitude: -74.0721,
    speed: 92,
    critical: true,
    late: false,
    facts: { value: 92, limit: 80 },
  },
  device: { id: "d1", name: "Truck 12" },
  template: null,
  mileage: 10_003.24,
  map,
};

test("a mail says what, where and when, in the reader's language, zone and units", () => {
  const english = mailOf(told, bogota);
  assert.equal(english.subject, "[Critical] Truck 12: Speed 92 km/h over the limit of 80");
  assert.equal(
    english.text,
    "Critical · Truck 12\n\nSpeed 92 km/h over the limit of 80\n\nDevice: Truck 12 (d1)\nAlert: Too fast\nWhen: 21 Nov 2026, 05:29:00 GMT-5\n" +
      "Where: 4.711000, -74.072100\nSpeed: 92 km/h\nMileage: 10,003.2 km\n\nShow on the map: https://map.example/?at=4.711000,-74.072100&mark\n\n" +
      "You get this because the alert rule Too fast names you.\n\n",
  );
  const over = {
    ...told.alert,
    phase: "over",
    critical: false,
    late: true,
    latitude: null,
    longitude: null,
    speed: null,
    facts: { value: 70, limit: 80, lastedMinutes: 12 },
  } as const;
  const { mileage: _, ...rest } = told;
  const spanish = mailOf({ ...rest, alert: over }, madrid);
  assert.equal(
    spanish.subject,
    "[Terminada] Truck 12: Velocidad 70 km/h, de nuevo por debajo del límite de 80 tras 12 min",
  );
  assert.equal(
    spanish.text,
    "Terminada · Truck 12\n\nVelocidad 70 km/h, de nuevo por debajo del límite de 80 tras 12 min\n\nDispositivo: Truck 12 (d1)\nAlerta: Too fast\n" +
      "Cuándo: 21 nov 2026, 11:29:00 CET\nDónde: se desconoce\n\nSe informó tarde, después de posiciones más recientes.\n\n" +
      "Recibe este aviso porque la regla de alerta Too fast le nombra.\n\n",
  );
  assert.deepEqual(contentOf(english.html).slice(1, 3), ["Critical · Truck 12", "Speed 92 km/h over the limit of 80"]);
  assert.ok(english.html.includes('<a href="https://map.example/?at=4.711000,-74.072100&amp;mark"'));
  assert.ok(!spanish.html.includes("<a "));
});

test("a rule's own text is filled in for each reader", () => {
  const own: Told = {
    ...told,
    template: "{{DeviceName}}: {{Speed}} on {{AlertDate}}, {{Mileage}}, {{MapLink}}{{Zone}}",
  };
  assert.equal(
    toldText(own, { ...bogota, units: "imperial" }),
    "Truck 12: 57.2 mph on 21 Nov 2026, 05:29:00 GMT-5, 6,215.7 mi, https://map.example/?at=4.711000,-74.072100&mark",
  );
  assert.equal(
    toldText({ ...told, template: "{{AlertType}} {{AlertText}} {{AlertName}} {{DeviceId}}" }, madrid),
    "Velocidad por encima del límite Velocidad 92 km/h, por encima del límite de 80 Too fast d1",
  );
});

test("that something is over is told in the service's words", () => {
  const over = { ...told.alert, phase: "over", facts: { value: 70, limit: 80, lastedMinutes: 3 } } as const;
  assert.equal(
    toldText({ ...told, alert: over, template: "Brake!" }, bogota),
    "Speed 70 km/h back under the limit of 80 after 3 min",
  );
});

test("a webhook's body has everything in the units of the API", () => {
  const { type, body } = webhookOf(told, bogota);
  assert.equal(type, "alert.raised");
  assert.deepEqual(JSON.parse(body), {
    id: "5b0c",
    type: "alert.raised",
    dateTime: "2026-11-21T10:29:00.000Z",
    raisedAt: "2026-11-21T10:29:01.000Z",
    late: false,
    critical: true,
    device: { id: "d1", name: "Truck 12" },
    rule: { id: "77aa", name: "Too fast", type: "speedOver" },
    position: { latitude: 4.711, longitude: -74.0721, speed: 92 },
    milleage: 10_003.24,
    facts: { value: 92, limit: 80 },
    text: "Speed 92 km/h over the limit of 80",
  });
  const nowhere = { ...told, alert: { ...told.alert, phase: "over", latitude: null } } as const;
  assert.equal(webhookOf(nowhere, bogota).type, "alert.over");
  assert.equal(JSON.parse(webhookOf(nowhere, bogota).body).position, null);
});

test("an SMS keeps what happened, and drops the link, the place and the time in this order", () => {
  const sms = (name: string, template: string | null = null, parts = 1) =>
    smsOf({ ...told, device: { id: "d1", name }, template }, bogota, parts);
  const text = "Speed 92 km/h over the limit of 80";
  const when = "21 Nov 2026, 05:29:00 GMT-5";
  assert.equal(sms("Truck 12"), `Truck 12: ${text}\n${when}\nhttps://map.example/?at=4.711000,-74.072100&mark`);
  assert.equal(sms("N".repeat(70)), `${"N".repeat(70)}: ${text}\n${when}\n4.711000,-74.072100`);
  assert.equal(sms("N".repeat(90)), `${"N".repeat(90)}: ${text}\n${when}`);
  assert.equal(sms("N".repeat(120)), `${"N".repeat(120)}: ${text}`);
  assert.equal(sms("N".repeat(150)), `${"N".repeat(21)}...: ${text}`);
  assert.equal(sms("N".repeat(150), "x ".repeat(100)), `${"N".repeat(21)}...: ${"x ".repeat(65)}x...`);
  assert.equal(
    sms("N".repeat(70), null, 2),
    `${"N".repeat(70)}: ${text}\n${when}\nhttps://map.example/?at=4.711000,-74.072100&mark`,
  );
});

test("an SMS gives up accents where that keeps what would be left out", () => {
  const spanish = { ...told, device: { id: "d1", name: "Camión" } };
  assert.equal(
    smsOf(spanish, madrid),
    "Camion: Velocidad 92 km/h, por encima del limite de 80\n21 nov 2026, 11:29:00 CET\nhttps://map.example/?at=4.711000,-74.072100&mark",
  );
  const brief = { ...spanish, template: "¡Señal! 5 °C", alert: { ...told.alert, latitude: null } };
  assert.equal(smsOf(brief, madrid), "Camión: ¡Señal! 5 °C\n21 nov 2026, 11:29:00 CET");
  // What no alphabet but UCS-2 has stays, and takes the room that it takes.
  assert.equal(
    smsOf({ ...spanish, device: { id: "d1", name: "Лорі" } }, madrid),
    "Лорі: Velocidad 92 km/h, por encima del límite de 80",
  );
});

test("the address of a map has a place for the position, and is one of the web", () => {
  assert.equal(problemOfMapLink(map), undefined);
  assert.equal(
    problemOfMapLink("https://map.example/{latitude}"),
    "must have {latitude} and {longitude} where the position goes",
  );
  assert.equal(problemOfMapLink("{latitude}{longitude}"), "must be a URL");
  assert.equal(problemOfMapLink("javascript:alert({latitude},{longitude})"), "must begin with https:// or http://");
  assert.equal(mapLink(map, -0.00000004, 179.99999999), "https://map.example/?at=0.000000,180.000000&mark");
});

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(
      fc.constantFrom(
        "<script>",
        "</h1>",
        '"',
        "'",
        "&amp;",
        "\r\n",
        "\0",
        "\ud800",
        "{{AlertText}}",
        "]]>",
        "ñ",
        "🚚",
        "x",
      ),
      { maxLength: 30 },
    )
    .map((parts) => parts.join("")),
);
const anyTold = fc.record({
  name: anyText,
  device: anyText,
  template: fc.option(anyText),
  facts: fc.dictionary(fc.constantFrom("value", "limit", "zone"), fc.oneof(anyText, fc.double(), fc.boolean())),
});

test("whatever names and texts a notice has, its mail is well-formed, and its subject one line", () => {
  fc.assert(
    fc.property(anyTold, ({ name, device, template, facts }) => {
      const notice: Told = {
        ...told,
        alert: { ...told.alert, name, facts },
        device: { id: "d1", name: device },
        template,
      };
      for (const reader of [bogota, madrid]) {
        const mail = mailOf(notice, reader);
        assert.ok(!/[\p{Cc}]/u.test(mail.subject) && mail.subject.isWellFormed() && mail.subject.length <= 150);
        assert.ok(contentOf(mail.html).length >= 10);
        assert.deepEqual(JSON.parse(webhookOf(notice, reader).body).facts, JSON.parse(JSON.stringify(facts)));
      }
    }),
  );
});

test("whatever a notice says, its SMS needs no more parts than it may have", () => {
  fc.assert(
    fc.property(anyTold, fc.integer({ min: 1, max: 3 }), ({ name, device, template, facts }, parts) => {
      const notice: Told = {
        ...told,
        alert: { ...told.alert, name, facts },
        device: { id: "d1", name: device },
        template,
      };
      const sms = smsOf(notice, madrid, parts);
      assert.ok(fitsSms(sms, parts));
      const encoded = encodeSms({ text: sms }, 0);
      assert.ok(encoded !== undefined && encoded.parts.length <= parts, sms);
    }),
  );
});

/**
 * Texts of a page in their order. Throws where a tag is unknown or open, or where a character should have been escaped.
 */
function contentOf(html: string): string[] {
  const open: string[] = [];
  const texts: string[] = [];
  const alone = new Set(["meta", "!DOCTYPE"]);
  for (const [piece] of html.matchAll(/<[^>]*>|[^<]+/g)) {
    if (!piece.startsWith("<")) {
      assert.ok(!/[>"']/.test(piece) && !/&(?!(?:amp|lt|gt|quot|#39);)/.test(piece), piece);
      if (piece.trim() !== "") texts.push(piece.replaceAll("&amp;", "&"));
      continue;
    }
    const tag = /^<(\/?)(!DOCTYPE|html|head|meta|title|body|main|p|h1|dl|dt|dd|a)((?: [a-z-]+(?:="[^"<>]*")?)*)>$/.exec(
      piece,
    );
    assert.ok(tag, piece);
    const [, slash, name = ""] = tag;
    if (slash === "/") assert.equal(open.pop(), name);
    else if (!alone.has(name)) open.push(name);
  }
  assert.deepEqual(open, []);
  return texts;
}
