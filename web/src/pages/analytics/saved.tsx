// Queries that somebody wants to find again. They are kept in the browser, per workspace.

import { Bookmark, ChevronDown, Trash2 } from "lucide-react";
import { useState } from "react";
import { DialogTrigger, Form } from "react-aria-components";
import { useSession } from "../../lib/session";
import { t } from "../../text/analytics";
import { common } from "../../text/common";
import { Button, TextLink } from "../../ui/button";
import { TextField } from "../../ui/fields";
import { Popover } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { linkTo, misshapen, type Query } from "./query";

interface Saved {
  name: string;
  query: Query;
}

function load(key: string): Saved[] {
  try {
    const list = JSON.parse(localStorage.getItem(key) ?? "[]") as Saved[];
    return list.filter((s) => typeof s.name === "string" && misshapen(s.query) === null);
  } catch {
    return [];
  }
}

export function SavedQueries({ query, suggestion }: { query: Query; suggestion: string }) {
  const key = `fanfare.queries.${useSession().workspace.id}`;
  const [list, setList] = useState(() => load(key));
  const [open, setOpen] = useState(false);
  const [name, setName] = useState("");
  const keep = (next: Saved[]) => {
    localStorage.setItem(key, JSON.stringify(next));
    setList(next);
  };
  const save = () => {
    const called = name.trim() || suggestion;
    keep(
      [...list.filter((s) => s.name !== called), { name: called, query }].toSorted((a, b) =>
        a.name.localeCompare(b.name),
      ),
    );
    setName("");
    setOpen(false);
    say(t.saved.savedAs(called));
  };
  const remove = (gone: Saved) => {
    keep(list.filter((s) => s !== gone));
    say(t.saved.removed(gone.name), () => keep(list));
  };
  return (
    <DialogTrigger isOpen={open} onOpenChange={setOpen}>
      <Button>
        <Bookmark aria-hidden="true" />
        {t.saved.saved}
        <ChevronDown className="size-3.5! text-faint" aria-hidden="true" />
      </Button>
      <Popover aria-label={t.saved.label} placement="bottom end" className="w-80">
        {list.length > 0 ? (
          <ul className="max-h-72 overflow-auto border-b border-line p-1.5">
            {list.map((s) => (
              <li key={s.name} className="flex items-center gap-1 rounded-md pl-2 hover:bg-hover">
                <TextLink href={linkTo(s.query)} onPress={() => setOpen(false)} className="grow truncate py-1 text-sm">
                  {s.name}
                </TextLink>
                <Button look="quiet" size="sm" icon aria-label={t.saved.remove(s.name)} onPress={() => remove(s)}>
                  <Trash2 aria-hidden="true" />
                </Button>
              </li>
            ))}
          </ul>
        ) : null}
        <Form
          className="grid gap-2 p-3"
          onSubmit={(e) => {
            e.preventDefault();
            save();
          }}
        >
          <TextField
            label={t.saved.saveAs}
            placeholder={suggestion}
            value={name}
            onChange={setName}
            maxLength={100}
            hint={t.saved.hint}
          />
          <Button type="submit" look="primary" size="sm" className="justify-self-end">
            {common.save}
          </Button>
        </Form>
      </Popover>
    </DialogTrigger>
  );
}
