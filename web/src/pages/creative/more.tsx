// A part of a form that is closed until it is needed.
import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button, Disclosure, DisclosurePanel, Heading } from "react-aria-components";

export function More({
  title,
  isNeeded,
  children,
}: {
  title: string;
  /** Keeps it open: something in it is filled in or wrong. */
  isNeeded: boolean;
  children: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  const shown = open || isNeeded;
  return (
    <Disclosure isExpanded={shown} onExpandedChange={setOpen} className="border-t border-line pt-3">
      <Heading level={3}>
        <Button
          slot="trigger"
          className="flex cursor-default items-center gap-1.5 rounded-md py-1 text-sm font-medium outline-none focus-visible:ring-focus"
        >
          <ChevronRight
            className={`size-4 text-faint transition-transform ${shown ? "rotate-90" : ""}`}
            aria-hidden="true"
          />
          {title}
        </Button>
      </Heading>
      <DisclosurePanel className="grid gap-4 sm:grid-cols-2 data-[expanded]:pt-3 [&:not([data-expanded])]:hidden">
        {children}
      </DisclosurePanel>
    </Disclosure>
  );
}
