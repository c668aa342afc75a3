// Several of a few: chips that are pressed or not.
import { Label, Text, ToggleButton, ToggleButtonGroup } from "react-aria-components";
import { label, type Option } from "../../ui/fields";

export function Choices({
  label: text,
  hint,
  error,
  options,
  value,
  onChange,
}: {
  label: string;
  hint?: string;
  error?: string;
  options: readonly Option[];
  value: string[];
  onChange: (ids: string[]) => void;
}) {
  const id = `choices-${text.replaceAll(" ", "-").toLowerCase()}`;
  return (
    <div>
      <Label id={id} elementType="span" className={label}>
        {text}
      </Label>
      <ToggleButtonGroup
        aria-labelledby={id}
        aria-describedby={`${id}-hint`}
        selectionMode="multiple"
        selectedKeys={value}
        onSelectionChange={(keys) => onChange(options.map((o) => o.id).filter((o) => keys.has(o)))}
        className="flex flex-wrap gap-1.5"
      >
        {options.map((o) => (
          <ToggleButton
            key={o.id}
            id={o.id}
            className="h-7 cursor-default rounded-md border border-line-strong bg-surface px-2.5 text-sm text-muted outline-none transition-colors data-[hovered]:bg-hover data-[hovered]:text-ink data-[selected]:border-accent data-[selected]:bg-accent-soft data-[selected]:text-accent-text data-[focus-visible]:ring-focus"
          >
            {o.label}
          </ToggleButton>
        ))}
      </ToggleButtonGroup>
      <Text id={`${id}-hint`} className={`mt-1 block text-xs ${error ? "text-bad" : "text-muted"}`}>
        {error ?? hint}
      </Text>
    </div>
  );
}
