// A list of texts, each in a field of its own.

import { Plus, X } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { t } from "../../text/creative";
import { Button } from "../../ui/button";

/** Fields for the items of a list, with buttons to add and to remove one. The focus follows. */
export function Lines({
  one,
  values,
  most,
  set,
  children,
}: {
  /** The name of one item. */
  one: string;
  values: string[];
  most: number;
  set: (values: string[]) => void;
  /** The field of an item. */
  children: (text: string, i: number, label: string, autoFocus: boolean) => ReactNode;
}) {
  const [added, setAdded] = useState(-1);
  const box = useRef<HTMLDivElement>(null);
  const remove = (i: number) => {
    set(values.filter((_, n) => n !== i));
    setAdded(-1);
    // The button that had the focus goes: the next item gets it, else the button that adds one.
    requestAnimationFrame(() => {
      const fields = box.current?.querySelectorAll<HTMLElement>("input, textarea");
      (fields?.[Math.min(i, fields.length - 1)] ?? box.current?.querySelector("button"))?.focus();
    });
  };
  return (
    <div className="grid gap-2" ref={box}>
      {values.map((text, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its place
        <div key={i} className="flex items-start gap-1.5">
          <div className="grow">{children(text, i, t.item(one, i + 1), i === added)}</div>
          <Button icon look="quiet" className="mt-6" aria-label={t.removeItem(one, i + 1)} onPress={() => remove(i)}>
            <X aria-hidden="true" />
          </Button>
        </div>
      ))}
      {values.length < most ? (
        <div>
          <Button
            size="sm"
            look="quiet"
            onPress={() => {
              setAdded(values.length);
              set([...values, ""]);
            }}
          >
            <Plus aria-hidden="true" />
            {t.addItem(one)}
          </Button>
        </div>
      ) : null}
    </div>
  );
}
