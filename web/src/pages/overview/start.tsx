// The first steps in a new workspace. They go away when they are done.

import { useQuery } from "@tanstack/react-query";
import { Check, X } from "lucide-react";
import { useState } from "react";
import { own } from "../../api/client";
import type { Key } from "../../api/console";
import { useMay, useSession } from "../../lib/session";
import { t } from "../../text/overview";
import { Button, ButtonLink } from "../../ui/button";

interface Step {
  done: boolean;
  title: string;
  text: string;
  to: string;
  action: string;
}

export function FirstSteps({ connected, created }: { connected: boolean; created: boolean }) {
  const hidden = `fanfare.steps.${useSession().workspace.id}`;
  const may = useMay("editor");
  const [gone, setGone] = useState(() => localStorage.getItem(hidden) === "gone");
  const keys = useQuery({
    queryKey: ["keys", "any"],
    queryFn: async () => (await own<Key[]>("GET", "/keys")).length > 0,
    enabled: may && !gone,
  });
  const steps: Step[] = [
    {
      done: connected,
      title: t.steps.connect,
      text: t.steps.connectHint,
      to: "/connections?new=1",
      action: t.steps.connectAction,
    },
    {
      done: created,
      title: t.steps.create,
      text: t.steps.createHint,
      to: "/campaigns?new=1",
      action: t.steps.createAction,
    },
    {
      done: keys.data ?? false,
      title: t.steps.key,
      text: t.steps.keyHint,
      to: "/settings/api/keys?new=1",
      action: t.steps.keyAction,
    },
  ];
  const left = steps.filter((s) => !s.done).length;
  if (!may || gone || keys.data === undefined || left === 0) return null;
  return (
    <section aria-labelledby="first-steps" className="card mb-5 p-4">
      <div className="mb-3 flex items-center justify-between">
        <h2 id="first-steps" className="text-base font-semibold">
          {t.steps.title}{" "}
          <span className="num ml-1 text-sm font-normal text-muted">{t.steps.progress(3 - left, 3)}</span>
        </h2>
        <Button
          size="sm"
          look="quiet"
          icon
          aria-label={t.steps.hide}
          onPress={() => {
            localStorage.setItem(hidden, "gone");
            setGone(true);
          }}
        >
          <X aria-hidden="true" />
        </Button>
      </div>
      <ol className="grid gap-3 md:grid-cols-3">
        {steps.map((s, i) => (
          <li key={s.title} className="flex gap-3 rounded-lg border border-line p-3">
            <span
              className={`num grid size-6 shrink-0 place-items-center rounded-full text-xs font-medium ${s.done ? "bg-good-soft text-good" : "bg-sunken text-muted"}`}
            >
              {s.done ? <Check className="size-3.5" aria-label={t.steps.done} /> : i + 1}
            </span>
            <div className="flex min-w-0 grow flex-col items-start">
              <p className="font-medium">{s.title}</p>
              <p className="mb-2.5 text-sm text-muted">{s.text}</p>
              {s.done ? null : (
                <ButtonLink href={s.to} size="sm" className="mt-auto">
                  {s.action}
                </ButtonLink>
              )}
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
