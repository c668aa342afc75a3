import type { Described, audiences as en } from "../en/audiences";
import { and, or } from "./list";
import { plural } from "./plural";

const people: Record<string, string> = {
  female: "Frauen",
  male: "Männer",
  other: "Personen anderen Geschlechts",
  unknown: "Personen unbekannten Geschlechts",
};

const devices: Record<string, string> = { desktop: "Desktop", mobile: "Mobilgerät", tablet: "Tablet", tv: "TV" };

const quoted = (names: readonly string[]) => or(names.map((n) => `„${n}“`));

function aged(age: Described["age"]): string {
  const { min, max } = age ?? { min: null, max: null };
  if (min && max) return min === max ? ` im Alter von ${min} Jahren` : ` von ${min} bis ${max} Jahren`;
  if (min) return ` ab ${min} Jahren`;
  return max ? ` bis ${max} Jahre` : "";
}

// Choice: countries stand in brackets and the rest after colons. In a sentence
// they would need their article and case: "in der Schweiz", "an Rennrädern".
function describe(d: Described): string {
  const who = d.genders.length > 0 ? and(d.genders.map((g) => people[g] ?? g)) : "Personen";
  const where = d.places.length > 0 ? ` (${or(d.places)})` : "";
  const parts = [
    who + aged(d.age) + where,
    d.languages.length > 0 ? `Sprache: ${or(d.languages)}` : "",
    d.interests.length > 0 ? `Interessen: ${or(d.interests)}` : "",
    d.devices.length > 0 ? `Gerät: ${or(d.devices.map((x) => devices[x] ?? x))}` : "",
    d.included.length > 0 ? `nur aus ${quoted(d.included)}` : "",
    d.excluded.length > 0 ? `nicht aus ${quoted(d.excluded)}` : "",
  ].filter(Boolean);
  const text = parts.join("; ");
  return text === "Personen" ? "Alle Personen." : `${text}.`;
}

export const audiences: typeof en = {
  title: "Zielgruppen",
  audience: "Zielgruppe",
  type: "Art",
  status: "Status",
  size: "Größe",
  tags: "Tags",
  newAudience: "Neue Zielgruppe",
  create: "Zielgruppe erstellen",
  types: {
    targeting: "Targeting",
    customer_list: "Kundenliste",
    lookalike: "Lookalike",
    platform: "Von der Plattform",
  },
  archived: "Zielgruppe archiviert.",

  list: {
    sub: "Die Menschen, die Ihre Kampagnen erreichen sollen.",
    search: "Nach Namen suchen",
    anyType: "Alle Arten",
    notArchived: "Nicht archiviert",
    tag: "Tag",
    anyTag: "Alle Tags",
    platforms: "Plattformen",
    campaigns: "Kampagnen",
    updated: "Geändert",
    noMatch: "Keine passenden Zielgruppen",
    noMatchHint: "Entfernen Sie einen Filter, oder suchen Sie nach etwas anderem.",
    clear: "Filter zurücksetzen",
    empty: "Noch keine Zielgruppen",
    emptyHint:
      "Beschreiben Sie Personen anhand von Merkmalen, laden Sie eine Kundenliste hoch, oder finden Sie Personen, die einer anderen Zielgruppe ähneln.",
  },

  kinds: {
    targeting: "Nach Land, Alter, Interessen und weiteren Merkmalen",
    customer_list: "Ihre Kunden, anhand von E-Mail-Adresse oder Telefonnummer",
    lookalike: "Personen, die einer anderen Zielgruppe ähneln",
  },
  created: "Zielgruppe erstellt.",
  createdWith: (n) => plural(n, "Zielgruppe mit # Mitglied erstellt.", "Zielgruppe mit # Mitgliedern erstellt."),
  createdWithout: (problem) => `Zielgruppe erstellt, aber nicht alle Mitglieder wurden hinzugefügt: ${problem}`,

  build: {
    countries: "Länder",
    regions: "Regionen oder Städte",
    languages: "Sprachen",
    interests: "Interessen",
    genders: "Geschlecht",
    gender: { female: "Weiblich", male: "Männlich", other: "Andere", unknown: "Unbekannt" },
    devices: "Geräte",
    included: "Nur Personen aus",
    excluded: "Ohne Personen aus",
    chooseAudiences: "Zielgruppen wählen",
    sizeHint: "Die Größe erscheint, sobald eine verbundene Plattform sie meldet. Fanfare schätzt keine Größen.",
    ageFrom: "Mindestalter",
    ageTo: "Höchstalter",
    seed: "Ausgangszielgruppe",
    seedHint: "Gut geeignet ist eine Kundenliste mit Käufern.",
    chooseAudience: "Zielgruppe wählen",
    percentHint: "Anteil an der Bevölkerung jedes Landes. Je kleiner der Anteil, desto ähnlicher.",
    mostSimilar: (share) => `${share}, größte Ähnlichkeit`,
    broadest: (share) => `${share}, größte Reichweite`,
    any: "Beliebig",
    noResults: (text) => `Keine Ergebnisse für „${text}“.`,
    typeAndEnter: "Eingeben und Enter drücken",
  },

  describe,
  describeLookalike: (share, seed, countries) =>
    countries.length > 0
      ? `Die ${share} der Bevölkerung (${or(countries)}), die „${seed}“ am meisten ähneln.`
      : `Die ${share} der Bevölkerung, die „${seed}“ am meisten ähneln.`,
  describeList: "Die Personen auf dieser Liste, abgeglichen über gehashte E-Mail-Adressen oder Telefonnummern.",
  describePlatforms: (platforms) => `Definiert auf: ${and(platforms)}.`,
  describePlatform: "Auf der Werbeplattform definiert.",

  detail: {
    archivedHint:
      "Diese Zielgruppe ist archiviert und wird von Kampagnen nicht verwendet. Stellen Sie sie wieder her, um sie erneut zu verwenden.",
    restore: "Wiederherstellen",
    archive: "Archivieren",
    edit: "Bearbeiten",
    editTitle: "Zielgruppe bearbeiten",
    methods: {
      exact: "Mitglieder gezählt",
      platform: "Von verbundenen Plattformen gemeldet",
      modelled: "Modelliert",
    },
    noSize: "Noch hat keine verbundene Plattform eine Größe gemeldet.",
    unknownSize: "Unbekannt",
    matched: (n) => `${n} Treffer`,
    needed: "Mitglieder, die Kampagnen benötigen",
    need: (least, missing, share) =>
      `Kampagnen benötigen mindestens ${least} Mitglieder. Es fehlen ${missing} (${share}).`,
    definition: "Definition",
    createdBy: "Erstellt von",
    updated: "Geändert",
    id: "ID",
    saved: "Zielgruppe gespeichert.",
    description: "Beschreibung",
    platformHint: "Diese Zielgruppe stammt von der Werbeplattform. Bearbeiten Sie die Definition dort.",
    tagsHint: "Tags durch Kommas trennen.",
  },

  members: {
    add: "Mitglieder hinzufügen",
    addCount: (n) => plural(n, "# Mitglied hinzufügen", "# Mitglieder hinzufügen"),
    added: (n, total) =>
      plural(n, `# Mitglied hinzugefügt. Gesamt: ${total}.`, `# Mitglieder hinzugefügt. Gesamt: ${total}.`),
    remove: "Mitglieder entfernen",
    removeCount: (n) => plural(n, "# Mitglied entfernen", "# Mitglieder entfernen"),
    removed: (n, total) =>
      plural(n, `# Mitglied entfernt. Gesamt: ${total}.`, `# Mitglieder entfernt. Gesamt: ${total}.`),
    privacy:
      "E-Mail-Adressen und Telefonnummern werden in Ihrem Browser gehasht (SHA-256). Nur die Hashwerte werden übertragen und gespeichert.",
    field: "E-Mail-Adressen, Telefonnummern oder Hashwerte",
    fieldHint:
      "Ein Eintrag pro Zeile oder eine CSV-Datei mit beliebigen Spalten. Telefonnummern brauchen die Landesvorwahl, z. B. +49.",
    chooseFile: "Datei auswählen",
    toHash: (n) => `${n} zu hashen`,
    hashed: (n) => `${n} bereits gehasht`,
    skipped: (n) =>
      plural(
        n,
        "# Zeile ohne Adresse, Nummer oder Hashwert übersprungen",
        "# Zeilen ohne Adresse, Nummer oder Hashwert übersprungen",
      ),
    hashing: "Wird gehasht",
    sending: "Wird hochgeladen",
  },

  insights: {
    title: "Insights",
    period: (from, to, zone) => `${from} – ${to}, ${zone}`,
    periodAsOf: (from, to, zone, ago) => `${from} – ${to}, ${zone}; aktualisiert ${ago}`,
    workspace: "ggü. gesamtem Workspace",
    versus: (audience) => `ggü. ${audience}`,
    missing: "Fehlende Daten",
    bestDays: "Beste Tage",
    bestDaysHint: "100 ist der durchschnittliche Tag.",
    shortDay: (day) => day.slice(0, 2),
    performance: "Leistung",
    performanceHint: "Im Vergleich zum gesamten Workspace.",
    ofWorkspace: (share) => `${share} des Workspace`,
    byDay: (metric) => `${metric} nach Tag`,
    metric: "Kennzahl",
    age: "Alter",
    country: "Land",
    gender: "Geschlecht",
    device: "Gerät",
    shareHint: "Anteil an den Impressionen. Ein Index von 100 entspricht der Vergleichsgruppe.",
    shareOf: (dimension) => `${dimension}, Anteil an den Impressionen`,
    share: "Anteil",
    index: "Index",
    channels: "Kanäle",
    channelsHint: "Balken zeigen Impressionen.",
    overlap: "Überschneidung",
    overlapHint: "Mitglieder, die auch auf anderen Kundenlisten sind.",
    overlapLabel: "Überschneidung mit anderen Kundenlisten",
    shared: "Gemeinsam",
    ofThis: "% dieser Liste",
    ofBoth: "% beider Listen",
    topCreatives: "Beste Werbemittel",
    campaigns: "Kampagnen",
    campaignsLabel: "Kampagnen mit dieser Zielgruppe",
  },
};
