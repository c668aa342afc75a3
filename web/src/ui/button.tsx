import type { ReactNode } from "react";
import { Button as AriaButton, Link as AriaLink, type ButtonProps, type LinkProps } from "react-aria-components";
import { common } from "../text/common";
import { Spinner } from "./spinner";

type Look = "primary" | "plain" | "quiet" | "danger";
type Size = "sm" | "md";

const base =
  "inline-flex items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap select-none cursor-default transition-colors outline-none focus-visible:ring-focus disabled:opacity-50 aria-disabled:opacity-50 [&_svg]:shrink-0";

const looks: Record<Look, string> = {
  primary: "bg-accent text-accent-ink hover:bg-accent-hover data-[pressed]:bg-accent-hover shadow-card",
  plain: "bg-surface text-ink border border-line-strong hover:bg-hover data-[pressed]:bg-hover shadow-card",
  quiet: "text-muted hover:text-ink hover:bg-hover data-[pressed]:bg-hover",
  danger: "bg-bad-solid text-white hover:brightness-95 shadow-card",
};

const sizes: Record<Size, string> = {
  sm: "h-7 px-2.5 text-sm [&_svg]:size-3.5",
  md: "h-8 px-3 text-sm [&_svg]:size-4",
};

interface Style {
  look?: Look;
  size?: Size;
  /** Only a picture: the label is for who cannot see it. */
  icon?: boolean;
}

function style({ look = "plain", size = "md", icon }: Style, className?: string) {
  return `${base} ${looks[look]} ${sizes[size]} ${icon ? (size === "sm" ? "w-7 px-0!" : "w-8 px-0!") : ""} ${className ?? ""}`;
}

export function Button({
  look,
  size,
  icon,
  busy,
  className,
  children,
  ...rest
}: Omit<ButtonProps, "className" | "children"> & Style & { busy?: boolean; className?: string; children: ReactNode }) {
  return (
    // Whoever has pressed it keeps the focus, so a busy button is not disabled but does nothing.
    <AriaButton
      {...rest}
      type={busy ? "button" : rest.type}
      onPress={busy ? undefined : rest.onPress}
      className={style({ look, size, icon }, `${busy ? "cursor-progress!" : ""} ${className ?? ""}`)}
    >
      {busy ? <Spinner /> : null}
      {children}
      {busy ? <span className="sr-only">{common.working}</span> : null}
    </AriaButton>
  );
}

/** A link that looks like a button. */
export function ButtonLink({
  look,
  size,
  icon,
  className,
  ...rest
}: Omit<LinkProps, "className"> & Style & { className?: string }) {
  return <AriaLink {...rest} className={style({ look, size, icon }, className)} />;
}

/** A link within text. */
export function TextLink({ className, ...rest }: Omit<LinkProps, "className"> & { className?: string }) {
  return (
    <AriaLink
      {...rest}
      className={`text-accent-text underline-offset-2 hover:underline rounded-sm outline-none focus-visible:ring-focus ${className ?? ""}`}
    />
  );
}
