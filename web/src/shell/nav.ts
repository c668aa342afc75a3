import { Cable, ChartSpline, House, Megaphone, Palette, Settings, Users } from "lucide-react";
import type { Role } from "../api/console";

export interface Place {
  to: string;
  name: string;
  icon?: typeof House;
  /** The second key after g. */
  key?: string;
  least?: Role;
  words?: string;
}

export const places: Place[] = [
  { to: "/", name: "Overview", icon: House, key: "o" },
  { to: "/campaigns", name: "Campaigns", icon: Megaphone, key: "c" },
  { to: "/creative", name: "Creative", icon: Palette, key: "r" },
  { to: "/audiences", name: "Audiences", icon: Users, key: "u" },
  { to: "/analytics", name: "Analytics", icon: ChartSpline, key: "a" },
  { to: "/connections", name: "Connections", icon: Cable, key: "n" },
];

export const settingsPlace: Place = { to: "/settings/workspace", name: "Settings", icon: Settings, key: "s" };

export interface SettingsGroup {
  title: string;
  places: Place[];
}

export const settingsGroups: SettingsGroup[] = [
  {
    title: "Workspace",
    places: [
      { to: "/settings/workspace", name: "General", words: "workspace name zone currency plan usage limits" },
      { to: "/settings/members", name: "Members", words: "people roles invite team", least: "admin" },
      {
        to: "/settings/models",
        name: "Models",
        words: "providers openai anthropic gemini budget generate",
        least: "admin",
      },
      { to: "/settings/audit", name: "Audit log", words: "history who did what", least: "admin" },
    ],
  },
  {
    title: "API",
    places: [
      { to: "/settings/api/keys", name: "Keys", words: "api key token secret" },
      { to: "/settings/api/requests", name: "Requests", words: "log calls errors" },
    ],
  },
  {
    title: "You",
    places: [
      { to: "/settings/profile", name: "Profile", words: "name e-mail" },
      { to: "/settings/security", name: "Security", words: "password passkey two-factor totp sessions sign out" },
      { to: "/settings/appearance", name: "Appearance", words: "theme dark light" },
    ],
  },
];
