// Small pieces of the query builder.

import { X } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Button as AriaButton } from "react-aria-components";
import { t } from "../../text/analytics";
import { TextField } from "../../ui/fields";

/** One part of the builder, and what the server finds wrong with it. */
export function Part({
  title,
  action,
  fault,
  children,
}: {
  title: string;
  action?: ReactNode;
  fault?: string;
  children?: ReactNode;
}) {
  return (
    <section aria-label={title} className="border-t border-line px-4 py-3 first:border-t-0">
      <div className="flex min-h-7 items-center justify-between gap-2">
        <h3 className="text-sm font-medium">{title}</h3>
        {action}
      </div>
      {children}
      {fault ? (
        <p role="alert" className="mt-1.5 text-xs text-bad">
          {fault}
        </p>
      ) : null}
    </section>
  );
}

/** Something that was chosen and can be taken away. */
export function Chip({ name, remove, children }: { name: string; remove: () => void; children?: ReactNode }) {
  return (
    <span className="inline-flex h-7 max-w-full items-center rounded-md border border-line bg-sunken pl-2 text-sm">
      <span className="min-w-0 truncate">{children ?? name}</span>
      <AriaButton
        aria-label={t.build.remove(name)}
        onPress={remove}
        className="grid size-6 shrink-0 cursor-default place-items-center rounded text-faint outline-none hover:text-ink focus-visible:ring-focus"
      >
        <X className="size-3.5" aria-hidden="true" />
      </AriaButton>
    </span>
  );
}

/** A field whose value counts when it is left or Enter is pressed, not letter by letter. */
export function Typed({
  label,
  value,
  onCommit,
  ...rest
}: {
  label: string;
  value: string;
  onCommit: (v: string) => void;
  error?: string;
  hint?: string;
  placeholder?: string;
  inputMode?: "numeric" | "decimal";
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const commit = () => {
    if (text.trim() !== value) onCommit(text.trim());
  };
  return (
    <TextField
      {...rest}
      label={label}
      value={text}
      onChange={setText}
      onBlur={commit}
      onKeyDown={(e) => {
        if (e.key === "Enter") commit();
      }}
    />
  );
}
