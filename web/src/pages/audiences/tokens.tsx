// Several values in one field: chosen from suggestions, or free words.

import { X } from "lucide-react";
import { useState } from "react";
import {
  Button as AriaButton,
  ComboBox,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Tag,
  TagGroup,
  TagList,
  TextField,
  useFilter,
} from "react-aria-components";
import { t } from "../../text/audiences";
import { box, item, label, type Option } from "../../ui/fields";

interface Props {
  label: string;
  hint?: string;
  error?: string;
  placeholder?: string;
  value: string[];
  onChange: (next: string[]) => void;
  /** What there is to choose from; without it every word goes. */
  options?: readonly Option[];
  /** The name of a value that is no option. */
  named?: (id: string) => string;
}

export function Tokens(p: Props) {
  const add = (...ids: string[]) => p.onChange([...new Set([...p.value, ...ids.map((s) => s.trim()).filter(Boolean)])]);
  const name = (id: string) => p.options?.find((o) => o.id === id)?.label ?? p.named?.(id) ?? id;
  return (
    <div>
      {p.options ? <Pick {...p} options={p.options} add={add} /> : <Words {...p} add={add} />}
      {p.value.length > 0 ? (
        <TagGroup aria-label={p.label} onRemove={(keys) => p.onChange(p.value.filter((id) => !keys.has(id)))}>
          <TagList className="mt-2 flex flex-wrap gap-1.5">
            {p.value.map((id) => (
              <Tag
                key={id}
                id={id}
                textValue={name(id)}
                className="flex h-6 max-w-full cursor-default items-center gap-0.5 rounded-md bg-sunken pl-2 text-sm outline-none data-[focus-visible]:ring-focus"
              >
                <span className="truncate">{name(id)}</span>
                <AriaButton
                  slot="remove"
                  className="grid size-6 shrink-0 place-items-center rounded text-faint outline-none hover:text-ink focus-visible:ring-focus"
                >
                  <X className="size-3" aria-hidden="true" />
                </AriaButton>
              </Tag>
            ))}
          </TagList>
        </TagGroup>
      ) : null}
      {p.error || p.hint ? (
        <p className={`mt-1 text-xs ${p.error ? "text-bad" : "text-muted"}`}>{p.error ?? p.hint}</p>
      ) : null}
    </div>
  );
}

function Pick({
  label: text,
  placeholder,
  value,
  options,
  add,
  error,
}: Props & { options: readonly Option[]; add: (id: string) => void }) {
  const [typed, setTyped] = useState("");
  const { contains } = useFilter({ sensitivity: "base" });
  const left = options.filter((o) => !value.includes(o.id) && (contains(o.label, typed) || contains(o.id, typed)));
  return (
    <ComboBox
      items={left}
      inputValue={typed}
      onInputChange={setTyped}
      value={null}
      onChange={(id) => {
        if (id !== null) add(String(id));
        setTyped("");
      }}
      menuTrigger="focus"
      allowsEmptyCollection
      isInvalid={!!error}
    >
      <Label className={label}>{text}</Label>
      <Input placeholder={placeholder ?? t.build.any} className={`${box} h-8`} />
      <Popover className="w-(--trigger-width) rounded-lg border border-line bg-surface p-1 shadow-pop animate-enter outline-none">
        <ListBox
          className="max-h-64 overflow-auto outline-none"
          renderEmptyState={() => <p className="px-2 py-3 text-sm text-muted">{t.build.noResults(typed)}</p>}
        >
          {(o: Option) => (
            <ListBoxItem id={o.id} textValue={o.label} className={item}>
              <span className="grow truncate">{o.label}</span>
              {o.id.length <= 7 ? <span className="text-xs text-muted">{o.id}</span> : null}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}

function Words({ label: text, placeholder, add, error }: Props & { add: (...words: string[]) => void }) {
  const [typed, setTyped] = useState("");
  const commit = () => {
    add(...typed.split(","));
    setTyped("");
  };
  return (
    <TextField value={typed} onChange={setTyped} isInvalid={!!error}>
      <Label className={label}>{text}</Label>
      <Input
        placeholder={placeholder ?? t.build.typeAndEnter}
        className={`${box} h-8`}
        onBlur={commit}
        onKeyDown={(e) => {
          if ((e.key === "Enter" && typed.trim()) || e.key === ",") {
            e.preventDefault();
            commit();
          }
        }}
      />
    </TextField>
  );
}
