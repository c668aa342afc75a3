// The body of the query, to be read and changed by hand.

import { useEffect, useState } from "react";
import { t } from "../../text/analytics";
import { Button } from "../../ui/button";
import { CopyButton } from "../../ui/copy";
import { TextField } from "../../ui/fields";
import { misshapen, type Query } from "./query";

export function BodyEditor({ query, onChange }: { query: Query; onChange: (q: Query) => void }) {
  const written = JSON.stringify(query, null, 2);
  const [text, setText] = useState(written);
  const [fault, setFault] = useState("");
  useEffect(() => setText(written), [written]);
  const apply = () => {
    try {
      const value: unknown = JSON.parse(text);
      const problem = misshapen(value);
      setFault(problem ?? "");
      if (!problem) onChange(value as Query);
    } catch (e) {
      setFault((e as Error).message);
    }
  };
  return (
    <div className="grid gap-3 p-4">
      <TextField
        label={t.body.label}
        mono
        rows={Math.min(28, Math.max(14, written.split("\n").length + 1))}
        value={text}
        onChange={setText}
        error={fault}
        spellCheck="false"
      />
      <div className="flex flex-wrap justify-between gap-2">
        <CopyButton text={text} />
        <div className="flex gap-2">
          <Button size="sm" isDisabled={text === written} onPress={() => setText(written)}>
            {t.body.reset}
          </Button>
          <Button size="sm" look="primary" isDisabled={text === written} onPress={apply}>
            {t.body.apply}
          </Button>
        </div>
      </div>
    </div>
  );
}
