// ⌘K: go anywhere, find a campaign, do something.

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { BookOpen, Megaphone, Moon, Plus, Search, Settings, Sun } from "lucide-react";
import { type ReactNode, useState } from "react";
import {
  Autocomplete,
  Dialog,
  Header,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  SearchField,
  useFilter,
} from "react-aria-components";
import { take, v1 } from "../api/client";
import { reaches, useSession } from "../lib/session";
import { t } from "../text/shell";
import { chooseTheme, isDark } from "../theme";
import { Kbd } from "../ui/display";
import { item } from "../ui/fields";
import { places, settingsGroups, settingsPlace } from "./nav";

interface Command {
  id: string;
  name: string;
  words?: string;
  icon?: ReactNode;
  key?: string;
  run: () => void;
}

export function Palette({ isOpen, onOpenChange }: { isOpen: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <ModalOverlay
      isDismissable
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      className="fixed inset-0 z-40 flex items-start justify-center bg-(--scrim) px-4 pt-[12vh]"
    >
      <Modal className="w-full max-w-xl overflow-hidden rounded-xl border border-line bg-surface shadow-pop animate-enter">
        <Dialog aria-label={t.searchOr} className="outline-none">
          <Commands close={() => onOpenChange(false)} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Commands({ close }: { close: () => void }) {
  const navigate = useNavigate();
  const { contains } = useFilter({ sensitivity: "base" });
  const [text, setText] = useState("");
  const role = useSession().role;
  const { data: campaigns } = useQuery({
    queryKey: ["palette", "campaigns"],
    queryFn: async () =>
      (await take(v1.GET("/v1/campaigns", { params: { query: { limit: 100, sort: "updated_at" } } }))).data,
    staleTime: 30_000,
  });
  const go = (to: string) => () => navigate({ to });
  const pages: Command[] = [...places, settingsPlace].map((p) => ({
    id: p.to,
    name: p.name,
    key: p.key,
    icon: p.icon ? <p.icon aria-hidden="true" /> : null,
    run: go(p.to),
  }));
  const settings: Command[] = settingsGroups.flatMap((g) =>
    g.places
      .filter((p) => reaches(role, p.least ?? "viewer"))
      .map((p) => ({
        id: p.to,
        name: t.settingsPath(g.title === t.api ? [t.api, p.name] : [p.name]),
        words: p.words,
        icon: <Settings aria-hidden="true" />,
        run: go(p.to),
      })),
  );
  const actions: Command[] = [
    ...(reaches(role, "editor")
      ? [
          { id: "new-campaign", name: t.newCampaign, icon: <Plus aria-hidden="true" />, run: go("/campaigns?new=1") },
          { id: "generate", name: t.generate, icon: <Plus aria-hidden="true" />, run: go("/creative?new=1") },
          { id: "new-audience", name: t.newAudience, icon: <Plus aria-hidden="true" />, run: go("/audiences?new=1") },
        ]
      : []),
    {
      id: "new-key",
      name: t.createKey,
      icon: <Plus aria-hidden="true" />,
      run: go("/settings/api/keys?new=1"),
    },
    {
      id: "theme",
      name: isDark() ? t.toLight : t.toDark,
      words: t.words.theme,
      icon: isDark() ? <Sun aria-hidden="true" /> : <Moon aria-hidden="true" />,
      run: () => chooseTheme(isDark() ? "light" : "dark"),
    },
    {
      id: "docs",
      name: t.openDocs,
      words: t.words.docs,
      icon: <BookOpen aria-hidden="true" />,
      run: () => location.assign("/docs"),
    },
  ];
  const found: Command[] = (text ? (campaigns ?? []) : []).map((c) => ({
    id: c.id,
    name: c.name,
    icon: <Megaphone aria-hidden="true" />,
    run: go(`/campaigns/${c.id}`),
  }));
  const groups: [string, Command[]][] = [
    [t.groups.goTo, pages],
    [t.groups.actions, actions],
    [t.campaigns, found],
    [t.settings, settings],
  ];
  return (
    <Autocomplete inputValue={text} onInputChange={setText} filter={(value, input) => contains(value, input)}>
      <SearchField aria-label={t.search} autoFocus className="flex items-center gap-2.5 border-b border-line px-4">
        <Search className="size-4 text-faint" aria-hidden="true" />
        <Input
          placeholder={t.searchField}
          className="h-12 grow bg-transparent text-base outline-none placeholder:text-faint [&::-webkit-search-cancel-button]:hidden"
        />
        <Kbd>{t.escape}</Kbd>
      </SearchField>
      {/* What scrolls must be reachable by keyboard; the list itself never has the focus. */}
      <div
        role="region"
        aria-label={t.found}
        tabIndex={0}
        className="max-h-[min(24rem,60vh)] overflow-auto outline-none"
      >
        <Menu
          aria-label={t.results}
          className="p-1.5 outline-none"
          renderEmptyState={() => <p className="px-3 py-8 text-center text-sm text-muted">{t.noResults(text)}</p>}
        >
          {groups
            .filter(([, list]) => list.length > 0)
            .map(([title, list]) => (
              <MenuSection key={title} className="mb-1">
                <Header className="px-2 pb-1 pt-2 text-2xs font-medium text-faint">{title}</Header>
                {list.map((c) => (
                  <MenuItem
                    key={c.id}
                    id={c.id}
                    textValue={`${c.name} ${c.words ?? ""}`}
                    onAction={() => {
                      close();
                      c.run();
                    }}
                    className={`${item} [&_svg]:text-faint`}
                  >
                    {c.icon}
                    <span className="grow truncate">{c.name}</span>
                    {c.key ? (
                      <span className="flex gap-1">
                        <Kbd>g</Kbd>
                        <Kbd>{c.key}</Kbd>
                      </span>
                    ) : null}
                  </MenuItem>
                ))}
              </MenuSection>
            ))}
        </Menu>
      </div>
    </Autocomplete>
  );
}
