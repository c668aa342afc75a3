// Loading, empty and error states: every list has all of them.

import { CircleAlert, Info, TriangleAlert } from "lucide-react";
import { Component, type ReactNode } from "react";
import { Refusal } from "../api/client";
import { common } from "../text/common";
import { Button } from "./button";

/** A grey shape where something will be. */
export function Skeleton({ className = "h-4 w-24" }: { className?: string }) {
  return <span aria-hidden="true" className={`block rounded bg-sunken animate-shimmer ${className}`} />;
}

/** Rows of grey shapes, for lists. */
export function SkeletonRows({ rows = 6 }: { rows?: number }) {
  return (
    <div role="status" aria-label={common.loading} className="divide-y divide-line">
      {Array.from({ length: rows }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <div key={i} className="flex items-center gap-4 px-4 py-3">
          <Skeleton className="h-4 w-1/3" />
          <Skeleton className="h-4 w-16" />
          <Skeleton className="ml-auto h-4 w-20" />
        </div>
      ))}
    </div>
  );
}

/** Where there is nothing, and the one thing to do about it. */
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center px-6 py-14 text-center">
      {icon ? (
        <div className="mb-3 rounded-lg border border-line bg-sunken p-2.5 text-faint [&_svg]:size-5">{icon}</div>
      ) : null}
      <p className="font-medium">{title}</p>
      {children ? <p className="mt-1 max-w-sm text-sm text-muted text-pretty">{children}</p> : null}
      {action ? <div className="mt-4">{action}</div> : null}
    </div>
  );
}

/** Something went wrong; says what, and lets the viewer try again. */
export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const r = error instanceof Refusal ? error : null;
  return (
    <div role="alert" className="flex flex-col items-center px-6 py-12 text-center">
      <CircleAlert className="mb-3 size-5 text-bad" aria-hidden="true" />
      <p className="font-medium">{r?.status === 404 ? common.notFound : common.notLoaded}</p>
      <p className="mt-1 max-w-md text-sm text-muted text-pretty">{r?.message ?? String(error)}</p>
      {r?.requestId ? <p className="mt-2 font-mono text-2xs text-faint">{r.requestId}</p> : null}
      {retry ? (
        <Button className="mt-4" onPress={retry}>
          {common.tryAgain}
        </Button>
      ) : null}
    </div>
  );
}

const tones = {
  info: { box: "bg-info-soft text-info", icon: Info },
  warn: { box: "bg-warn-soft text-warn", icon: TriangleAlert },
  bad: { box: "bg-bad-soft text-bad", icon: CircleAlert },
};

/** A remark above what it is about. */
export function Note({
  tone = "info",
  title,
  children,
  action,
}: {
  tone?: keyof typeof tones;
  title?: ReactNode;
  children?: ReactNode;
  action?: ReactNode;
}) {
  const { box, icon: Icon } = tones[tone];
  return (
    <div
      role={tone === "bad" ? "alert" : "note"}
      className={`flex items-start gap-2.5 rounded-lg px-3 py-2.5 text-sm ${box}`}
    >
      <Icon className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
      <div className="min-w-0 grow">
        {title ? <p className="font-medium">{title}</p> : null}
        {children ? <div className={title ? "mt-0.5 text-ink/80" : "text-ink/90"}>{children}</div> : null}
      </div>
      {action}
    </div>
  );
}

/** Says that a part of the page failed. The rest of the page is not affected. */
export function Broken({ retry }: { retry: () => void }) {
  return (
    <div role="alert" className="flex flex-col items-center px-6 py-12 text-center">
      <CircleAlert className="mb-3 size-5 text-bad" aria-hidden="true" />
      <p className="font-medium">{common.broken}</p>
      <p className="mt-1 max-w-md text-sm text-muted text-pretty">{common.brokenHint}</p>
      <Button className="mt-4" onPress={retry}>
        {common.tryAgain}
      </Button>
    </div>
  );
}

/** Shows Broken instead of children that throw. The next render by the parent tries again, so new data repairs it. */
export class Boundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override componentDidUpdate(before: { children: ReactNode }) {
    // A failed try changes the state alone, so this cannot loop.
    if (this.state.failed && before.children !== this.props.children) this.setState({ failed: false });
  }

  override render() {
    return this.state.failed ? <Broken retry={() => this.setState({ failed: false })} /> : this.props.children;
  }
}
