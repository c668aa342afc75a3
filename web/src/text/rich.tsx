import { Fragment, type ReactNode } from "react";

/** A text with links or code in it: each {name} becomes the part of that name. */
export function rich(text: string, parts: Record<string, ReactNode>): ReactNode {
  return text.split(/\{(\w+)\}/).map((piece, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text keep their order
    <Fragment key={i}>{i % 2 === 0 ? piece : parts[piece]}</Fragment>
  ));
}
