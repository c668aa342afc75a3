// The theme and the language are set before anything is drawn, so that no page flashes.
import { language } from "./text/language";

export type Theme = "system" | "light" | "dark";

const key = "fanfare.theme";

export function chosenTheme(): Theme {
  const v = localStorage.getItem(key);
  return v === "light" || v === "dark" ? v : "system";
}

export function chooseTheme(theme: Theme) {
  if (theme === "system") localStorage.removeItem(key);
  else localStorage.setItem(key, theme);
  applyTheme();
}

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Whether the page is dark now. */
export function isDark(): boolean {
  const theme = chosenTheme();
  return theme === "dark" || (theme === "system" && dark.matches);
}

function applyTheme() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
}

dark.addEventListener("change", applyTheme);
window.addEventListener("storage", applyTheme);
applyTheme();
document.documentElement.lang = language;
