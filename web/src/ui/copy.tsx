import { Check, Copy as CopyIcon } from "lucide-react";
import { useState } from "react";
import { common } from "../text/common";
import { Button } from "./button";

export function CopyButton({ text, label = common.copy }: { text: string; label?: string }) {
  const [done, setDone] = useState(false);
  return (
    <Button
      size="sm"
      onPress={async () => {
        await navigator.clipboard.writeText(text);
        setDone(true);
        setTimeout(() => setDone(false), 1600);
      }}
    >
      {done ? <Check aria-hidden="true" /> : <CopyIcon aria-hidden="true" />}
      <span aria-live="polite">{done ? common.copied : label}</span>
    </Button>
  );
}

/** Code with a button that copies it. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <div className="relative rounded-lg border border-line bg-sunken">
      <pre
        role="region"
        aria-label={label}
        tabIndex={0}
        className="max-h-96 overflow-auto rounded-lg p-3 pr-24 font-mono text-xs leading-5 outline-none focus-visible:ring-focus"
      >
        {text}
      </pre>
      <div className="absolute right-2 top-2">
        <CopyButton text={text} />
      </div>
    </div>
  );
}
