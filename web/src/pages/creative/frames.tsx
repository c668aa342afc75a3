// How a creative looks where it is shown: plain frames, one per kind of channel.
// Whatever people have written is text here, never markup.

import { Bell, Mail, Mic, Search } from "lucide-react";
import type { ReactNode } from "react";
import { t } from "../../text/creative";
import { type Content, type Copy, named, picture } from "./data";

interface FrameProps {
  content: Content;
  copy: Partial<Copy>;
  /** Which of several lines to show first. */
  turn?: number;
}

const at = (list: string[] | undefined, i: number) => (list?.length ? list[i % list.length] : undefined);

function host(content: Content): string {
  try {
    return new URL(content.landing_url ?? "").host;
  } catch {
    return "example.com";
  }
}

const who = ({ content, copy }: FrameProps) => copy.business_name || host(content).replace(/^www\./, "");

/** The picture of a shape that fits a place best. */
function fitting(content: Content, ratio: number) {
  const off = (m: Content["media"][number]) => Math.abs(Math.log((m.width || 1) / (m.height || 1)) - Math.log(ratio));
  return content.media.toSorted((a, b) => off(a) - off(b))[0];
}

function Picture({ content, ratio, className }: { content: Content; ratio: number; className?: string }) {
  const m = fitting(content, ratio);
  if (!m) return null;
  return (
    <img
      src={picture(m)}
      alt={m.alt_text ?? ""}
      width={m.width ?? undefined}
      height={m.height ?? undefined}
      className={`h-auto max-w-full ${className ?? ""}`}
    />
  );
}

const Call = ({ content }: { content: Content }) =>
  content.call_to_action ? (
    <span className="shrink-0 rounded-md bg-sunken px-2.5 py-1 text-sm font-medium">
      {named(content.call_to_action)}
    </span>
  ) : null;

function SearchAd(p: FrameProps) {
  const turn = p.turn ?? 0;
  const heads = p.copy.headlines ?? [];
  const shown = [0, 1, 2].map((i) => heads[(turn + i) % Math.max(heads.length, 1)]).slice(0, heads.length);
  const told = [at(p.copy.descriptions, turn), at(p.copy.descriptions, turn + 1)].filter(
    (d, i, all) => d && all.indexOf(d) === i,
  );
  return (
    <Sheet>
      <p className="flex items-center gap-1.5 text-xs text-muted">
        <Search className="size-3.5" aria-hidden="true" />
        <span className="font-medium text-ink">{t.frames.sponsored}</span>
        <span className="truncate">{[host(p.content), ...(p.copy.paths ?? [])].join(" › ")}</span>
      </p>
      <p className="mt-1 text-lg leading-snug text-info">{shown.join(" | ") || p.content.headline}</p>
      <p className="mt-1 text-sm text-muted">{told.join(" ") || p.content.body}</p>
    </Sheet>
  );
}

function SocialPost(p: FrameProps) {
  const turn = p.turn ?? 0;
  return (
    <Sheet flush>
      <div className="flex items-center gap-2.5 p-3">
        <span className="grid size-8 place-items-center rounded-full bg-accent-soft text-sm font-semibold text-accent-text uppercase">
          {who(p).charAt(0)}
        </span>
        <p className="min-w-0 text-sm leading-tight">
          <span className="block truncate font-medium">{who(p)}</span>
          <span className="text-xs text-muted">{t.frames.sponsored}</span>
        </p>
      </div>
      <p className="px-3 pb-3 text-sm whitespace-pre-line">{p.copy.primary_text || p.content.body}</p>
      <Picture content={p.content} ratio={1} className="w-full" />
      <div className="flex items-center gap-3 border-t border-line bg-sunken/60 p-3">
        <p className="min-w-0 grow">
          <span className="block text-2xs text-muted">{host(p.content)}</span>
          <span className="block text-sm font-semibold">{at(p.copy.headlines, turn) || p.content.headline}</span>
          <span className="block text-xs text-muted">{at(p.copy.descriptions, turn) ?? p.content.description}</span>
        </p>
        {p.content.call_to_action ? (
          <span className="shrink-0 rounded-md border border-line-strong bg-surface px-2.5 py-1 text-sm font-medium">
            {named(p.content.call_to_action)}
          </span>
        ) : null}
      </div>
    </Sheet>
  );
}

function Banner(p: FrameProps) {
  const turn = p.turn ?? 0;
  if (p.content.media.length > 0) {
    return (
      <ul className="flex flex-wrap items-end justify-center gap-4">
        {p.content.media.map((m) => (
          <li key={m.asset_id} className="min-w-0">
            <img
              src={picture(m)}
              alt={m.alt_text ?? ""}
              width={m.width ?? undefined}
              height={m.height ?? undefined}
              className="h-auto max-h-96 w-auto max-w-full border border-line"
            />
            <p className="num mt-1 text-center text-2xs text-muted">
              {m.width} × {m.height}
            </p>
          </li>
        ))}
      </ul>
    );
  }
  return (
    <div className="mx-auto flex aspect-6/5 w-full max-w-[18.75rem] flex-col border border-line-strong bg-surface p-4">
      <p className="text-2xs text-muted">{t.frames.ad(who(p))}</p>
      <p className="mt-3 text-lg font-semibold leading-snug">{at(p.copy.headlines, turn) || p.content.headline}</p>
      <p className="mt-1.5 text-sm text-muted">{at(p.copy.descriptions, turn) || p.content.body}</p>
      <div className="mt-auto flex justify-end">
        <Call content={p.content} />
      </div>
    </div>
  );
}

function Letter(p: FrameProps) {
  return (
    <Sheet flush wide>
      <div className="border-b border-line p-4">
        <p className="flex items-center gap-1.5 text-xs text-muted">
          <Mail className="size-3.5" aria-hidden="true" />
          {who(p)}
        </p>
        <p className="mt-1 text-lg font-semibold">{p.copy.subject || p.content.headline}</p>
        <p className="text-sm text-muted">{p.copy.preheader || p.content.description}</p>
      </div>
      <Picture content={p.content} ratio={1.91} className="w-full" />
      <div className="p-4 text-sm leading-6 whitespace-pre-line break-words">{p.copy.body || p.content.body}</div>
      {p.content.call_to_action ? (
        <div className="px-4 pb-4">
          <Call content={p.content} />
        </div>
      ) : null}
    </Sheet>
  );
}

function Message(p: FrameProps) {
  return (
    <Sheet>
      <p className="text-center text-xs text-muted">{who(p)}</p>
      <p className="mt-2 mr-8 rounded-2xl rounded-bl-sm bg-sunken px-3 py-2 text-sm whitespace-pre-line break-words">
        {p.copy.primary_text || p.content.body}
      </p>
    </Sheet>
  );
}

function Notification(p: FrameProps) {
  return (
    <Sheet>
      <p className="flex items-center gap-1.5 text-xs text-muted">
        <Bell className="size-3.5" aria-hidden="true" />
        {t.frames.now(who(p))}
      </p>
      <p className="mt-1 text-sm font-semibold">{at(p.copy.headlines, p.turn ?? 0) || p.content.headline}</p>
      <p className="text-sm text-muted">{p.copy.primary_text || p.content.body}</p>
    </Sheet>
  );
}

function Script(p: FrameProps) {
  return (
    <Sheet wide>
      <p className="flex items-center gap-1.5 text-xs text-muted">
        <Mic className="size-3.5" aria-hidden="true" />
        {t.frames.script}
      </p>
      {p.copy.headlines?.length ? <p className="mt-1 font-semibold">{at(p.copy.headlines, p.turn ?? 0)}</p> : null}
      <p className="mt-1 text-sm leading-6 whitespace-pre-line">{p.copy.script || p.content.body}</p>
      <Picture content={p.content} ratio={16 / 9} className="mt-3 w-full rounded" />
    </Sheet>
  );
}

function Plain(p: FrameProps) {
  return (
    <Sheet>
      <p className="font-semibold">{at(p.copy.headlines, p.turn ?? 0) || p.content.headline}</p>
      <p className="mt-1 text-sm whitespace-pre-line text-muted">
        {p.copy.primary_text || p.copy.body || p.content.body || p.content.description}
      </p>
      <Picture content={p.content} ratio={1} className="mt-3 w-full rounded" />
    </Sheet>
  );
}

function Sheet({ flush, wide, children }: { flush?: boolean; wide?: boolean; children: ReactNode }) {
  return (
    <div
      className={`mx-auto w-full overflow-hidden rounded-lg border border-line bg-surface shadow-card ${wide ? "max-w-xl" : "max-w-md"} ${flush ? "" : "p-4"}`}
    >
      {children}
    </div>
  );
}

const frames: Record<string, (p: FrameProps) => ReactNode> = {
  search: SearchAd,
  social: SocialPost,
  display: Banner,
  email: Letter,
  sms: Message,
  push: Notification,
  video: Script,
  audio: Script,
};

/** A content as one channel shows it. */
export function Frame({ channel, content, turn }: { channel: string; content: Content; turn?: number }) {
  const Shape = frames[channel] ?? Plain;
  return (
    <div lang={content.language ?? undefined}>
      <Shape content={content} copy={content.by_channel[channel] ?? {}} turn={turn} />
    </div>
  );
}

/** A small picture of a creative: what it shows, or the first words of what it says. */
export function Thumb({ content, type }: { content: Content; type: string }) {
  const m = fitting(content, 4 / 3);
  if (m) {
    return <img src={picture(m)} alt="" loading="lazy" className="size-full object-contain" />;
  }
  const email = content.by_channel.email;
  return (
    <span
      lang={content.language ?? undefined}
      className="flex size-full flex-col justify-center gap-1.5 px-5 text-left"
    >
      <span className="line-clamp-2 text-base font-semibold leading-snug text-pretty">
        {(type === "email" && email?.subject) || content.headline || named(type)}
      </span>
      <span className="line-clamp-3 text-xs text-muted text-pretty">
        {(type === "email" && email?.preheader) || content.body || content.description}
      </span>
    </span>
  );
}
