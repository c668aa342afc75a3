// A line or a few lines of text. It stands apart from the other fields so that
// the pages before sign-in load no more than it.
import type { ReactNode } from "react";
import {
  TextField as AriaTextField,
  FieldError,
  Input,
  Label,
  Text,
  TextArea,
  type TextFieldProps,
} from "react-aria-components";

export const box =
  "w-full rounded-md border border-line-strong bg-surface px-2.5 text-base text-ink shadow-card outline-none transition-colors placeholder:text-faint hover:border-faint focus:border-accent focus:outline-2 focus:-outline-offset-1 focus:outline-accent disabled:opacity-60 data-[invalid]:border-bad";

export const label = "mb-1 block text-sm font-medium text-ink";

/** What a field says below itself. */
export function Hint({ hint, error }: { hint?: ReactNode; error?: string }) {
  return (
    <>
      {hint && !error ? (
        <Text slot="description" className="mt-1 block text-xs text-muted">
          {hint}
        </Text>
      ) : null}
      <FieldError className="mt-1 block text-xs text-bad">{error}</FieldError>
    </>
  );
}

export interface FieldProps {
  label: string;
  hint?: ReactNode;
  /** What is wrong with it, in the server's words. */
  error?: string;
  placeholder?: string;
}

export function TextField({
  label: text,
  hint,
  error,
  placeholder,
  rows,
  mono,
  trailing,
  ...rest
}: Omit<TextFieldProps, "children" | "className"> &
  FieldProps & { rows?: number; mono?: boolean; trailing?: ReactNode; className?: string }) {
  return (
    <AriaTextField {...rest} isInvalid={!!error || rest.isInvalid} validationBehavior="aria">
      <Label className={label}>{text}</Label>
      {rows ? (
        <TextArea
          rows={rows}
          placeholder={placeholder}
          className={`${box} resize-y py-1.5 ${mono ? "font-mono text-sm" : ""}`}
        />
      ) : (
        <div className="relative">
          <Input
            placeholder={placeholder}
            className={`${box} h-8 ${mono ? "font-mono text-sm" : ""} ${trailing ? "pr-14" : ""}`}
          />
          {trailing ? (
            <div className="absolute inset-y-0 right-2.5 flex items-center text-sm text-faint">{trailing}</div>
          ) : null}
        </div>
      )}
      <Hint hint={hint} error={error} />
    </AriaTextField>
  );
}
