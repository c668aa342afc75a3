import type { overview as en } from "../en/overview";

export const overview: typeof en = {
  title: "Übersicht",
  blank: "Kennzahlen erscheinen hier nach der ersten Synchronisierung.",

  steps: {
    title: "Erste Schritte",
    progress: (done, total) => `${done} von ${total}`,
    hide: "Schritte ausblenden",
    done: "Erledigt",
    connect: "Plattform verbinden",
    connectHint: "Ausgaben, Klicks und Conversions automatisch synchronisieren.",
    connectAction: "Verbinden",
    create: "Kampagne erstellen",
    createHint: "Für einen Entwurf genügt ein Name.",
    createAction: "Erstellen",
    key: "API-Schlüssel erstellen",
    keyHint: "Alles, was die Konsole kann, auch aus eigenem Code nutzen.",
    keyAction: "Schlüssel erstellen",
  },

  freshness: {
    title: "Verbindungen",
    sub: "Aktualität der Daten",
    all: "Alle anzeigen",
    empty: "Noch keine Verbindungen",
    connect: "Plattform verbinden",
    through: (day) => `Daten bis ${day}`,
    grant: "Erneut anmelden",
    details: "Details anzeigen",
    running: "wird gerade synchronisiert",
    queued: "Synchronisierung in Warteschlange",
    waiting: "wartet auf Daten",
    never: "noch nie synchronisiert",
    synced: (ago) => `synchronisiert ${ago}`,
  },

  trend: {
    from: (value) => `zuvor ${value}`,
    sparkline: (metric) => `${metric} im Zeitraum`,
    over: (metric) => `${metric} im Zeitverlauf`,
    metric: "Kennzahl",
    previous: "Vorperiode",
    warnings: "Hinweise zu diesen Zahlen",
    days: (from, to, zone) => `${from} – ${to}, ${zone}`,
    through: (days, until) => `${days}; Daten bis ${until}`,
  },

  ranking: {
    title: "Kampagnen",
    sub: "Mit mindestens 1 % der Ausgaben",
    rankedBy: "Sortiert nach",
    by: (metric) => `Nach ${metric}`,
    best: "Beste",
    worst: "Schwächste",
    most: "Höchste Ausgaben",
    least: "Niedrigste Ausgaben",
    empty: "Keine Kampagnendaten in diesem Zeitraum",
    unnamed: "Ohne Namen",
    platformOnly: "Nur auf der Werbeplattform",
  },

  channels: {
    title: "Kanäle",
    sub: "Ausgaben, Anteil und Ergebnisse",
    channel: "Kanal",
    total: "Gesamt",
    share: "Anteil",
    shareOf: (channel) => `Anteil an den Ausgaben, ${channel}`,
    change: "ROAS-Änderung",
  },

  empty: "Keine Daten in diesem Zeitraum",
  emptyHint: "Wählen Sie einen anderen Zeitraum oder warten Sie auf die nächste Synchronisierung.",
};
