// The facts that a creative was generated from.
import { t } from "../../text/creative";
import { Facts } from "../../ui/display";
import { Note } from "../../ui/feedback";
import { labelOf, shownFacts } from "./brief";
import { Source } from "./briefform";
import type { Creative } from "./data";

/** The facts by their labels; those that came from a text with their place in it. */
export function FactList({ creative: c }: { creative: Creative }) {
  const g = c.generation;
  if (!g?.understood) return <p className="text-sm text-muted">{t.briefForm.notSaved}</p>;
  const missing = [...new Set(g.understood.missing.map(labelOf))];
  return (
    <>
      <Facts
        items={shownFacts(g.understood).map((f) => [
          labelOf(f.type),
          <span key={f.text}>
            {f.text}
            {f.start === null ? null : (
              <span className="block text-xs text-muted">
                <Source text={g.prompt} found={f} />
              </span>
            )}
          </span>,
        ])}
      />
      {missing.length > 0 ? (
        <div className="mt-3">
          <Note>{t.briefForm.missing(missing.join(", "))}</Note>
        </div>
      ) : null}
    </>
  );
}
