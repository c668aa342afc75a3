/** The pages under Settings. */
export const settings = {
  appearance: {
    title: "Appearance",
    sub: "Saved in this browser.",
    theme: "Theme",
    system: "System",
    systemHint: "Follows your device",
    light: "Light",
    lightHint: "Always light",
    dark: "Dark",
    darkHint: "Always dark",
    language: "Language and region",
    languageHint: "Changes text, numbers and dates. The page reloads.",
    browser: (name: string) => `Browser default (${name})`,
  },
};
