import type { settings as en } from "../en/settings";

export const settings: typeof en = {
  appearance: {
    title: "Darstellung",
    sub: "Wird in diesem Browser gespeichert.",
    theme: "Design",
    system: "System",
    systemHint: "Wie auf Ihrem Gerät eingestellt",
    light: "Hell",
    lightHint: "Immer hell",
    dark: "Dunkel",
    darkHint: "Immer dunkel",
    language: "Sprache und Region",
    languageHint: "Gilt für Texte, Zahlen und Daten. Die Seite wird neu geladen.",
    browser: (name) => `Browsereinstellung (${name})`,
  },
};
