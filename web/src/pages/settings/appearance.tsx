import { useState } from "react";
import { Radio, RadioGroup } from "react-aria-components";
import { common } from "../../text/common";
import { browserLanguage, chooseLanguage, chosenLanguage, type Language, languages } from "../../text/language";
import { t } from "../../text/settings";
import { chooseTheme, chosenTheme, type Theme } from "../../theme";
import { Card, PageHeader } from "../../ui/display";
import { Select } from "../../ui/fields";

const a = t.appearance;

const choices: { id: Theme; name: string; hint: string }[] = [
  { id: "system", name: a.system, hint: a.systemHint },
  { id: "light", name: a.light, hint: a.lightHint },
  { id: "dark", name: a.dark, hint: a.darkHint },
];

export function Appearance() {
  const [theme, setTheme] = useState(chosenTheme());
  const choose = (next: string) => {
    chooseTheme(next as Theme);
    setTheme(next as Theme);
  };
  return (
    <>
      <PageHeader title={a.title} sub={a.sub} />
      <Card title={a.theme}>
        <RadioGroup aria-label={a.theme} value={theme} onChange={choose} className="grid gap-3 sm:grid-cols-3">
          {choices.map((c) => (
            <Radio
              key={c.id}
              value={c.id}
              className="group cursor-default rounded-lg border border-line p-2 outline-none transition-colors data-[hovered]:bg-hover data-[selected]:border-accent data-[selected]:bg-accent-soft data-[focus-visible]:ring-focus"
            >
              <Preview theme={c.id} />
              <span className="mt-2 flex items-center gap-2 px-1 pb-1">
                <span className="grid size-4 shrink-0 place-items-center rounded-full border border-line-strong bg-surface group-data-[selected]:border-accent">
                  <span className="size-2 scale-0 rounded-full bg-accent group-data-[selected]:scale-100" />
                </span>
                <span className="text-sm">
                  <span className="font-medium">{c.name}</span> <span className="text-muted">{c.hint}</span>
                </span>
              </span>
            </Radio>
          ))}
        </RadioGroup>
      </Card>
      <LanguageCard />
    </>
  );
}

function LanguageCard() {
  const chosen = chosenLanguage();
  const choose = (id: string) => {
    chooseLanguage(id === "" ? null : (id as Language));
    location.reload();
  };
  return (
    <Card className="mt-5" title={a.language} sub={a.languageHint}>
      <Select
        label={common.language}
        hideLabel
        className="w-72"
        value={chosen ?? ""}
        onChange={choose}
        options={[
          { id: "", label: a.browser(languages[browserLanguage]) },
          ...Object.entries(languages).map(([id, name]) => ({ id, label: name })),
        ]}
      />
    </Card>
  );
}

// Both themes are shown at once, so the pictures have colours of their own.
const inks = {
  light: { ground: "#fbfbfc", sheet: "#ffffff", line: "#e7e7ec", text: "#73737f", accent: "#5451d0" },
  dark: { ground: "#0e0e11", sheet: "#151519", line: "#2f2f37", text: "#8c8c99", accent: "#6e6ade" },
};

function Preview({ theme }: { theme: Theme }) {
  return (
    <svg viewBox="0 0 160 96" className="w-full rounded-md border border-line" aria-hidden="true">
      <Half ink={inks[theme === "dark" ? "dark" : "light"]} />
      {theme === "system" ? (
        <g clipPath="url(#right-half)">
          <clipPath id="right-half">
            <rect x="80" width="80" height="96" />
          </clipPath>
          <Half ink={inks.dark} />
        </g>
      ) : null}
    </svg>
  );
}

function Half({ ink }: { ink: (typeof inks)["light"] }) {
  return (
    <>
      <rect width="160" height="96" fill={ink.ground} />
      {[14, 24, 34, 44].map((y) => (
        <rect key={y} x="8" y={y} width={y === 14 ? 24 : 18} height="3" rx="1.5" fill={ink.text} opacity=".6" />
      ))}
      <rect x="42" y="10" width="108" height="76" rx="4" fill={ink.sheet} stroke={ink.line} />
      <rect x="50" y="18" width="34" height="4" rx="2" fill={ink.text} />
      <rect x="124" y="17" width="18" height="7" rx="2" fill={ink.accent} />
      <path d="M50 54 66 46 82 50 98 38 114 42 130 32 142 36" fill="none" stroke={ink.accent} strokeWidth="2" />
      {[64, 72, 80].map((y) => (
        <rect key={y} x="50" y={y - 2} width="92" height="1" fill={ink.line} />
      ))}
    </>
  );
}
