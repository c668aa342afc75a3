// The frame around every page: where one is, where one can go.

import { useQueryClient } from "@tanstack/react-query";
import { Outlet, useLocation } from "@tanstack/react-router";
import { BookOpen, Check, ChevronsUpDown, LogOut, Menu as MenuIcon, Plus, Search, UserRound, X } from "lucide-react";
import { Suspense, useEffect, useState } from "react";
import { Button as AriaButton, Link, MenuTrigger } from "react-aria-components";
import { own } from "../api/client";
import { words } from "../lib/format";
import { useSession } from "../lib/session";
import mark from "../mark.svg";
import { common } from "../text/common";
import { t } from "../text/shell";
import { Button } from "../ui/button";
import { Kbd } from "../ui/display";
import { SkeletonRows } from "../ui/feedback";
import { Menu, MenuItem, MenuSeparator } from "../ui/overlay";
import { complain, Toasts } from "../ui/toast";
import { type Place, places, settingsPlace } from "./nav";
import { NewWorkspace } from "./newworkspace";
import { Palette } from "./palette";
import { useShortcuts } from "./shortcuts";

export function Shell() {
  const [palette, setPalette] = useState(false);
  const [drawer, setDrawer] = useState(false);
  const path = useLocation({ select: (l) => l.pathname });
  useShortcuts(() => setPalette(true));
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever has arrived no longer needs the way
  useEffect(() => setDrawer(false), [path]);
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[14.5rem_1fr] print:block!">
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-surface px-3 py-2 focus:not-sr-only focus:fixed focus:left-2 focus:top-2"
      >
        {t.skip}
      </a>
      <header className="sticky top-0 z-30 flex h-12 items-center justify-between border-b border-line bg-canvas px-3 md:hidden no-print">
        <Button
          look="quiet"
          icon
          aria-label={drawer ? t.closeMenu : t.openMenu}
          aria-expanded={drawer}
          onPress={() => setDrawer(!drawer)}
        >
          {drawer ? <X aria-hidden="true" /> : <MenuIcon aria-hidden="true" />}
        </Button>
        <img src={mark} alt="Fanfare" className="size-6" />
        <Button look="quiet" icon aria-label={t.search} onPress={() => setPalette(true)}>
          <Search aria-hidden="true" />
        </Button>
      </header>
      <aside
        className={`no-print z-20 flex flex-col border-r border-line bg-canvas px-3 py-3 max-md:fixed max-md:inset-x-0 max-md:bottom-0 max-md:top-12 md:sticky md:top-0 md:h-dvh ${drawer ? "" : "max-md:hidden"}`}
      >
        <Switcher />
        <AriaButton
          onPress={() => setPalette(true)}
          className="mt-3 flex h-8 w-full cursor-default items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-sm text-faint shadow-card outline-none hover:text-muted focus-visible:ring-focus max-md:hidden"
        >
          <Search className="size-3.5" aria-hidden="true" />
          <span className="grow text-left">{t.searchOr}</span>
          <Kbd>⌘K</Kbd>
        </AriaButton>
        <nav aria-label={t.main} className="mt-4 flex flex-col gap-0.5">
          {places.map((p) => (
            <NavLink key={p.to} place={p} here={p.to === "/" ? path === "/" : path.startsWith(p.to)} />
          ))}
        </nav>
        <div className="mt-auto flex flex-col gap-0.5 pt-4">
          <NavLink place={{ to: "/docs", name: common.documentation, icon: BookOpen }} here={false} outside />
          <NavLink place={settingsPlace} here={path.startsWith("/settings")} />
          <Me />
        </div>
      </aside>
      <main id="main" tabIndex={-1} className="min-w-0 px-4 py-5 outline-none sm:px-6 lg:px-8 lg:py-6">
        <div className="mx-auto max-w-7xl">
          <Suspense fallback={<SkeletonRows />}>
            <Outlet />
          </Suspense>
        </div>
      </main>
      <Palette isOpen={palette} onOpenChange={setPalette} />
      <Toasts />
    </div>
  );
}

export const navLink =
  "flex h-8 items-center gap-2.5 rounded-md px-2.5 text-sm font-medium outline-none transition-colors focus-visible:ring-focus";

function NavLink({ place, here, outside }: { place: Place; here: boolean; outside?: boolean }) {
  const Icon = place.icon;
  const className = `${navLink} ${here ? "bg-sunken text-ink" : "text-muted hover:bg-hover hover:text-ink"}`;
  const inside = (
    <>
      {Icon ? <Icon className={`size-4 ${here ? "text-accent-text" : ""}`} aria-hidden="true" /> : null}
      {place.name}
    </>
  );
  if (outside) {
    return (
      <a href={place.to} className={className}>
        {inside}
      </a>
    );
  }
  return (
    <Link href={place.to} aria-current={here ? "page" : undefined} className={className}>
      {inside}
    </Link>
  );
}

/** Shows which workspace this is, and takes one to another. */
function Switcher() {
  const session = useSession();
  const [making, setMaking] = useState(false);
  const go = async (id: string) => {
    try {
      await own("POST", "/session/workspace", { workspace_id: id });
      location.assign("/");
    } catch (e) {
      complain(e);
    }
  };
  return (
    <>
      <MenuTrigger>
        <AriaButton className="flex w-full cursor-default items-center gap-2.5 rounded-md px-2 py-1.5 text-left outline-none hover:bg-hover focus-visible:ring-focus">
          <img src={mark} alt="" className="size-6 shrink-0" />
          <span className="min-w-0 grow">
            <span className="block truncate text-sm font-semibold">{session.workspace.name}</span>
          </span>
          <ChevronsUpDown className="size-3.5 shrink-0 text-faint" aria-hidden="true" />
        </AriaButton>
        <Menu label={t.workspace}>
          {session.workspaces.map((w) => (
            <MenuItem key={w.id} textValue={w.name} onAction={() => go(w.id)}>
              <span className="grow truncate">{w.name}</span>
              <span className="text-xs text-faint">{words(w.role)}</span>
              {w.id === session.workspace.id ? <Check aria-hidden="true" /> : <span className="size-4" />}
            </MenuItem>
          ))}
          {session.role === "owner" ? <MenuSeparator /> : null}
          {session.role === "owner" ? (
            <MenuItem onAction={() => setMaking(true)}>
              <Plus aria-hidden="true" />
              {t.newWorkspace}
            </MenuItem>
          ) : null}
        </Menu>
      </MenuTrigger>
      <NewWorkspace isOpen={making} onOpenChange={setMaking} />
    </>
  );
}

function Me() {
  const session = useSession();
  const client = useQueryClient();
  return (
    <MenuTrigger>
      <AriaButton className={`${navLink} w-full cursor-default text-muted hover:bg-hover hover:text-ink`}>
        <span className="grid size-5 shrink-0 place-items-center rounded-full bg-accent-soft text-2xs font-semibold text-accent-text">
          {(session.user.name || session.user.email).charAt(0).toUpperCase()}
        </span>
        <span className="min-w-0 truncate">{session.user.name || session.user.email}</span>
      </AriaButton>
      <Menu label={t.account}>
        <MenuItem href="/settings/profile">
          <UserRound aria-hidden="true" />
          {t.profile}
        </MenuItem>
        <MenuSeparator />
        <MenuItem
          onAction={async () => {
            await own("DELETE", "/session").catch(complain);
            client.clear();
            location.assign("/sign-in");
          }}
        >
          <LogOut aria-hidden="true" />
          {t.signOut}
        </MenuItem>
      </Menu>
    </MenuTrigger>
  );
}
