// From facts to variants: the form, then the progress, then the result.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Form } from "react-aria-components";
import { take, v1 } from "../../api/client";
import { common } from "../../text/common";
import { t } from "../../text/creative";
import { Button, ButtonLink } from "../../ui/button";
import { Note, Skeleton } from "../../ui/feedback";
import { Actions, Dialog } from "../../ui/overlay";
import { fill, isBlank, type Wrong, wrongOf } from "./brief";
import { FactFields, Paste, type Reading, useRead } from "./briefform";
import { type Creative, creativeQuery, useKeep } from "./data";
import { Frame } from "./frames";
import { FallbackNote, Progress } from "./progress";
import { SettingFields } from "./settings";
import { blankState, requestOf, type State, stateOf } from "./state";
import { FactList } from "./understood";

/** The dialog that generates a creative; from is the creative to start from. */
export function Generate({
  from,
  isOpen,
  onOpenChange,
}: {
  from?: Creative;
  isOpen: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  return (
    <Dialog side title={from ? t.generate.again : t.generate.title} isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => <Content from={from} close={close} />}
    </Dialog>
  );
}

/** What is known of the text that a creative was generated from. */
function readingOf(c: Creative | undefined): Reading | null {
  const g = c?.generation;
  return g?.understood && g.prompt ? { text: g.prompt, understood: g.understood } : null;
}

function Content({ from, close }: { from?: Creative; close: () => void }) {
  const [state, setState] = useState<State>(() => (from ? stateOf(from) : blankState));
  const [reading, setReading] = useState<Reading | null>(() => readingOf(from));
  const [made, setMade] = useState("");
  const [again, setAgain] = useState(Boolean(from));
  const form = useRef<HTMLFormElement>(null);
  const keep = useKeep();
  const read = useRead((r) => {
    setState((s) => ({ ...s, facts: fill(s.facts, r.understood, reading?.understood.facts) }));
    setReading(r);
  });
  const ask = useMutation({
    meta: { quiet: true },
    mutationFn: async () =>
      (
        await take(
          v1.POST("/v1/creative/generate", {
            params: { header: { Prefer: "respond-async" } },
            body: requestOf(state),
          }),
        )
      ).data,
    onSuccess: (c) => {
      keep(c);
      setMade(c.id);
    },
  });
  const refused = ask.error;
  useEffect(() => {
    if (refused) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [refused]);
  if (made) {
    const back = () => {
      setMade("");
      setAgain(true);
    };
    return <Made id={made} back={back} close={close} />;
  }
  const wrong = wrongOf(refused);
  const text = state.text.trim();
  return (
    <Form
      ref={form}
      className="grid gap-5"
      onSubmit={(e) => {
        e.preventDefault();
        // A text that was not read yet: people see its facts before they are used.
        if (isBlank(state.facts) && text) read.mutate(state.text);
        else ask.mutate();
      }}
    >
      <Paste
        text={state.text}
        setText={(pasted) => setState({ ...state, text: pasted })}
        read={read}
        reading={reading}
      />
      <Fields state={state} set={setState} wrong={wrong} reading={reading} />
      <Actions>
        <Button onPress={close}>{common.cancel}</Button>
        <Button type="submit" look="primary" busy={ask.isPending || read.isPending}>
          {again ? t.generate.again : t.generate.generate}
        </Button>
      </Actions>
    </Form>
  );
}

function Fields({
  state,
  set,
  wrong,
  reading,
}: {
  state: State;
  set: (next: State) => void;
  wrong: Wrong;
  reading: Reading | null;
}) {
  return (
    <>
      {wrong.summary ? <Note tone="bad">{wrong.summary}</Note> : null}
      <FactFields
        facts={state.facts}
        set={(next) => set({ ...state, facts: { ...state.facts, ...next } })}
        wrong={wrong.fields}
        reading={reading}
      />
      <SettingFields
        settings={state.settings}
        set={(next) => set({ ...state, settings: { ...state.settings, ...next } })}
        wrong={wrong.fields}
      />
    </>
  );
}

function Made({ id, back, close }: { id: string; back: () => void; close: () => void }) {
  const { data: c } = useQuery(creativeQuery(id));
  if (!c) return <Skeleton className="h-24 w-full" />;
  return (
    <div className="grid gap-4" aria-live="polite">
      <Progress creative={c} edit={back} />
      {c.status === "archived" ? <p className="text-sm text-muted">{t.generate.canceled}</p> : null}
      {c.status === "ready" ? <Done creative={c} /> : null}
      <Actions>
        {c.status !== "generating" ? <Button onPress={back}>{t.editBrief}</Button> : null}
        {c.status === "ready" ? (
          <ButtonLink look="primary" href={`/creative/${id}`} onPress={close}>
            {t.generate.open}
          </ButtonLink>
        ) : (
          <Button onPress={close}>{common.close}</Button>
        )}
      </Actions>
    </div>
  );
}

function Done({ creative: c }: { creative: Creative }) {
  const first = c.channels[0] ?? Object.keys(c.content.by_channel)[0] ?? "other";
  return (
    <>
      <p className="text-sm">
        <span className="font-medium">{t.generate.ready(c.variant_count)}</span>{" "}
        <span className="text-muted">{t.generate.first}</span>
      </p>
      <div className="rounded-lg bg-sunken p-4">
        <Frame channel={first} content={c.content} />
      </div>
      <FallbackNote creative={c} />
      {(c.generation?.dropped ?? []).map((why) => (
        <Note key={why}>{why}</Note>
      ))}
      <section aria-labelledby="used-facts">
        <h3 id="used-facts" className="mb-2 text-sm font-medium">
          {t.brief}
        </h3>
        <FactList creative={c} />
      </section>
    </>
  );
}
