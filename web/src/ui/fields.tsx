import { Check, ChevronDown, Minus, Search, X } from "lucide-react";
import type { ReactNode } from "react";
import {
  Checkbox as AriaCheckbox,
  Radio as AriaRadio,
  RadioGroup as AriaRadioGroup,
  SearchField as AriaSearchField,
  Select as AriaSelect,
  Switch as AriaSwitch,
  Button,
  type CheckboxProps,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  type RadioGroupProps,
  type SearchFieldProps,
  type SelectProps,
  SelectValue,
  type SwitchProps,
  Text,
} from "react-aria-components";
import { box, type FieldProps, Hint, label } from "./textfield";

export { box, label, TextField } from "./textfield";

export interface Option {
  id: string;
  label: string;
  hint?: string;
}

export function Select({
  label: text,
  hideLabel,
  hint,
  error,
  options,
  value,
  onChange,
  className,
  ...rest
}: Omit<SelectProps<Option>, "children" | "className" | "onChange" | "value" | "onSelectionChange"> &
  FieldProps & {
    options: readonly Option[];
    value: string;
    onChange: (id: string) => void;
    hideLabel?: boolean;
    className?: string;
  }) {
  return (
    <AriaSelect
      {...rest}
      className={className}
      value={value}
      onChange={(k) => onChange(String(k))}
      isInvalid={!!error}
      validationBehavior="aria"
      aria-label={hideLabel ? text : undefined}
    >
      {hideLabel ? null : <Label className={label}>{text}</Label>}
      <Button className={`${box} flex h-8 cursor-default items-center gap-2 text-left text-sm`}>
        <SelectValue className="min-w-0 grow truncate [&_[slot=description]]:hidden" />
        <ChevronDown className="size-3.5 shrink-0 text-faint" aria-hidden="true" />
      </Button>
      <Hint hint={hint} error={error} />
      <Popover className="min-w-(--trigger-width) max-w-80 rounded-lg border border-line bg-surface p-1 shadow-pop animate-enter outline-none">
        <ListBox items={options} className="max-h-72 overflow-auto outline-none">
          {(o) => (
            <ListBoxItem id={o.id} textValue={o.label} className={item}>
              {({ isSelected }) => (
                <>
                  <span className="flex min-w-0 grow flex-col">
                    <Text slot="label" className="truncate">
                      {o.label}
                    </Text>
                    {o.hint ? (
                      <Text slot="description" className="text-xs text-muted">
                        {o.hint}
                      </Text>
                    ) : null}
                  </span>
                  {isSelected ? <Check className="size-3.5 shrink-0" aria-hidden="true" /> : null}
                </>
              )}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}

/** A line of a menu or a list of choices. */
export const item =
  "flex min-h-7 cursor-default items-center gap-2 rounded-md px-2 py-1 text-sm text-ink outline-none select-none data-[focused]:bg-hover data-[disabled]:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0";

const tick =
  "grid size-4 shrink-0 place-items-center rounded border border-line-strong bg-surface text-white transition-colors group-data-[selected]:border-accent group-data-[selected]:bg-accent group-data-[indeterminate]:border-accent group-data-[indeterminate]:bg-accent group-data-[focus-visible]:ring-focus";

export function Checkbox({
  children,
  ...rest
}: Omit<CheckboxProps, "className" | "children"> & { children?: ReactNode }) {
  return (
    <AriaCheckbox {...rest} className="group flex min-h-6 items-center gap-2 text-sm data-[disabled]:opacity-50">
      {({ isSelected, isIndeterminate }) => (
        <>
          <span className={tick}>
            {isIndeterminate ? <Minus className="size-3" strokeWidth={3} /> : null}
            {isSelected && !isIndeterminate ? <Check className="size-3" strokeWidth={3} /> : null}
          </span>
          {children}
        </>
      )}
    </AriaCheckbox>
  );
}

export function Switch({ children, ...rest }: Omit<SwitchProps, "className" | "children"> & { children?: ReactNode }) {
  return (
    <AriaSwitch {...rest} className="group flex min-h-6 items-center gap-2.5 text-sm data-[disabled]:opacity-50">
      <span className="flex h-4.5 w-8 shrink-0 items-center rounded-full bg-line-strong p-0.5 transition-colors group-data-[selected]:bg-accent group-data-[focus-visible]:ring-focus">
        <span className="size-3.5 rounded-full bg-white shadow-sm transition-transform group-data-[selected]:translate-x-3.5" />
      </span>
      {children}
    </AriaSwitch>
  );
}

export function RadioGroup({
  label: text,
  hint,
  error,
  options,
  ...rest
}: Omit<RadioGroupProps, "children" | "className"> & FieldProps & { options: readonly Option[] }) {
  return (
    <AriaRadioGroup {...rest} isInvalid={!!error} validationBehavior="aria">
      <Label className={label}>{text}</Label>
      <div className="grid gap-1.5">
        {options.map((o) => (
          <AriaRadio
            key={o.id}
            value={o.id}
            className="group flex cursor-default items-start gap-2.5 rounded-md border border-line px-3 py-2 text-sm outline-none transition-colors data-[hovered]:bg-hover data-[selected]:border-accent data-[selected]:bg-accent-soft data-[focus-visible]:ring-focus"
          >
            <span className="mt-0.5 grid size-4 shrink-0 place-items-center rounded-full border border-line-strong bg-surface group-data-[selected]:border-accent">
              <span className="size-2 scale-0 rounded-full bg-accent transition-transform group-data-[selected]:scale-100" />
            </span>
            <span>
              <span className="block font-medium">{o.label}</span>
              {o.hint ? <span className="block text-xs text-muted">{o.hint}</span> : null}
            </span>
          </AriaRadio>
        ))}
      </div>
      <Hint hint={hint} error={error} />
    </AriaRadioGroup>
  );
}

export function SearchField({
  label: text,
  placeholder,
  className,
  ...rest
}: Omit<SearchFieldProps, "className" | "children"> & { label: string; placeholder?: string; className?: string }) {
  return (
    <AriaSearchField {...rest} aria-label={text} className={`group relative ${className ?? "w-56"}`}>
      <Search className="pointer-events-none absolute left-2.5 top-2 size-4 text-faint" aria-hidden="true" />
      <Input
        placeholder={placeholder ?? text}
        className={`${box} h-8 pl-8 pr-7 text-sm [&::-webkit-search-cancel-button]:hidden`}
      />
      <Button className="absolute right-1 top-1 grid size-6 place-items-center rounded text-faint outline-none hover:text-ink focus-visible:ring-focus group-data-[empty]:hidden">
        <X className="size-3.5" aria-hidden="true" />
      </Button>
    </AriaSearchField>
  );
}
