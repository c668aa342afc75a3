import { Cable, ChartSpline, House, Megaphone, Palette, Settings, Users } from "lucide-react";
import type { Role } from "../api/console";
import { t } from "../text/shell";

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
  { to: "/", name: t.overview, icon: House, key: "o" },
  { to: "/campaigns", name: t.campaigns, icon: Megaphone, key: "c" },
  { to: "/creative", name: t.creative, icon: Palette, key: "r" },
  { to: "/audiences", name: t.audiences, icon: Users, key: "u" },
  { to: "/analytics", name: t.analytics, icon: ChartSpline, key: "a" },
  { to: "/connections", name: t.connections, icon: Cable, key: "n" },
];

export const settingsPlace: Place = { to: "/settings/workspace", name: t.settings, icon: Settings, key: "s" };

export interface SettingsGroup {
  title: string;
  places: Place[];
}

export const settingsGroups: SettingsGroup[] = [
  {
    title: t.workspace,
    places: [
      { to: "/settings/workspace", name: t.general, words: t.words.general },
      { to: "/settings/members", name: t.members, words: t.words.members, least: "admin" },
      {
        to: "/settings/models",
        name: t.models,
        words: t.words.models,
        least: "admin",
      },
      { to: "/settings/audit", name: t.audit, words: t.words.audit, least: "admin" },
    ],
  },
  {
    title: t.api,
    places: [
      { to: "/settings/api/keys", name: t.keys, words: t.words.keys },
      { to: "/settings/api/requests", name: t.requests, words: t.words.requests },
    ],
  },
  {
    title: t.account,
    places: [
      { to: "/settings/profile", name: t.profile, words: "name e-mail" },
      { to: "/settings/security", name: t.security, words: "password passkey two-factor totp sessions sign out" },
      { to: "/settings/appearance", name: t.appearance, words: t.words.appearance },
    ],
  },
];
