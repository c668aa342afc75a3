// Choosing from a list that can be searched.

import { Check } from "lucide-react";
import type { ReactNode } from "react";
import {
  Autocomplete,
  Header,
  ListBox,
  ListBoxItem,
  ListBoxSection,
  type Selection,
  useFilter,
} from "react-aria-components";
import { t } from "../../text/analytics";
import { item, SearchField } from "../../ui/fields";
import { Spinner } from "../../ui/spinner";

export interface Choice {
  id: string;
  label: string;
  hint?: string;
  group?: string;
  /** Why it cannot be chosen now. */
  off?: string;
}

export function PickList({
  label,
  choices,
  selected,
  onChange,
  single,
  loading,
  empty = t.build.noResults,
  onSearch,
}: {
  label: string;
  choices: Choice[];
  selected: string[];
  /** Gets the chosen ones in the order in which they were chosen. */
  onChange: (ids: string[]) => void;
  single?: boolean;
  loading?: boolean;
  empty?: ReactNode;
  /** Who gives the choices searches them too. */
  onSearch?: (text: string) => void;
}) {
  const { contains } = useFilter({ sensitivity: "base" });
  const change = (keys: Selection) => {
    const now = keys === "all" ? choices.map((c) => c.id) : [...keys].map(String);
    onChange([...selected.filter((id) => now.includes(id)), ...now.filter((id) => !selected.includes(id))]);
  };
  const groups = [...new Set(choices.map((c) => c.group ?? ""))];
  return (
    <Autocomplete filter={onSearch ? undefined : (text, input) => contains(text, input)} onInputChange={onSearch}>
      <SearchField label={t.build.search(label)} placeholder={t.build.search(label)} autoFocus className="m-2 w-auto" />
      {/* What scrolls must be reachable by keyboard, and the list itself never has the focus while one types. */}
      <div
        tabIndex={0}
        role="group"
        aria-label={label}
        className="max-h-80 w-72 max-w-full overflow-auto rounded-b-lg outline-none focus-visible:ring-focus"
      >
        <ListBox
          aria-label={label}
          selectionMode={single ? "single" : "multiple"}
          selectedKeys={selected}
          onSelectionChange={change}
          // Escape leaves; it must not take along what was chosen.
          escapeKeyBehavior="none"
          disabledKeys={choices.filter((c) => c.off).map((c) => c.id)}
          className="px-1 pb-1 outline-none"
          renderEmptyState={() => (
            <div className="flex justify-center px-3 py-6 text-sm text-muted">{loading ? <Spinner /> : empty}</div>
          )}
        >
          {groups.map((name) => (
            <ListBoxSection key={name} aria-label={name || label}>
              {name ? <Header className="px-2 pb-1 pt-2 text-2xs font-medium text-faint">{name}</Header> : null}
              {choices
                .filter((c) => (c.group ?? "") === name)
                .map((c) => (
                  <Line key={c.id} choice={c} />
                ))}
            </ListBoxSection>
          ))}
        </ListBox>
      </div>
    </Autocomplete>
  );
}

function Line({ choice: c }: { choice: Choice }) {
  return (
    <ListBoxItem id={c.id} textValue={`${c.label} ${c.id}`} className={item}>
      {({ isSelected }) => (
        <>
          <span className="flex min-w-0 grow flex-col">
            <span className="truncate">{c.label}</span>
            {c.off || c.hint ? <span className="text-xs text-muted">{c.off ?? c.hint}</span> : null}
          </span>
          {isSelected ? <Check className="text-accent-text" aria-hidden="true" /> : null}
        </>
      )}
    </ListBoxItem>
  );
}
