// Chooses some of what the workspace has.

import { useState } from "react";
import { CheckboxGroup, FieldError, Label } from "react-aria-components";
import { t } from "../../text/campaigns";
import { rich } from "../../text/rich";
import { TextLink } from "../../ui/button";
import { Status } from "../../ui/display";
import { Skeleton } from "../../ui/feedback";
import { Checkbox, label, SearchField } from "../../ui/fields";
import { type ChoiceKind, useChoices } from "./data";

export function Pick({
  kind,
  title,
  value,
  onChange,
  error,
  fixed,
}: {
  kind: ChoiceKind;
  title: string;
  value: string[];
  onChange: (ids: string[]) => void;
  error?: string;
  /** Why it cannot be changed now. */
  fixed?: string;
}) {
  const [text, setText] = useState("");
  const { data: found, isPending, isError, error: fault } = useChoices(kind, text);
  const nothing = found?.length === 0 && !text;
  return (
    <CheckboxGroup value={value} onChange={onChange} isInvalid={!!error} isDisabled={!!fixed} validationBehavior="aria">
      <div className="flex items-baseline justify-between">
        <Label className={label}>{title}</Label>
        {value.length > 0 ? <span className="num text-xs text-muted">{t.list.selected(value.length)}</span> : null}
      </div>
      {nothing ? (
        <p className="text-sm text-muted">
          {rich(t.form.none_yet, {
            add: (
              <TextLink href={`/${kind}`} className="underline">
                {t.form.add}
              </TextLink>
            ),
          })}
        </p>
      ) : (
        <div className="rounded-md border border-line">
          {(found?.length ?? 0) > 6 || text ? (
            <div className="border-b border-line p-2">
              <SearchField label={t.form.search(title)} value={text} onChange={setText} className="w-full" />
            </div>
          ) : null}
          <div className="flex max-h-44 flex-col gap-0.5 overflow-y-auto p-2">
            {isPending ? <Skeleton className="h-5 w-1/2" /> : null}
            {isError ? <p className="text-sm text-bad">{fault.message}</p> : null}
            {found?.map((c) => (
              <Checkbox key={c.id} value={c.id}>
                <span className="min-w-0 grow truncate">{c.name}</span>
                <Status value={c.status} />
              </Checkbox>
            ))}
            {found?.length === 0 ? <p className="text-sm text-muted">{t.form.noMatch(text)}</p> : null}
          </div>
        </div>
      )}
      {fixed ? <p className="mt-1 text-xs text-muted">{fixed}</p> : null}
      <FieldError className="mt-1 block text-xs text-bad">{error}</FieldError>
    </CheckboxGroup>
  );
}
