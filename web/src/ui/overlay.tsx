import { X } from "lucide-react";
import { createContext, type ReactNode, useContext, useState } from "react";
import {
  Button as AriaButton,
  Dialog as AriaDialog,
  Menu as AriaMenu,
  MenuItem as AriaMenuItem,
  Popover as AriaPopover,
  Tooltip as AriaTooltip,
  DialogTrigger,
  Heading,
  type MenuItemProps,
  MenuTrigger,
  Modal,
  ModalOverlay,
  type PopoverProps,
  Pressable,
  type PressEvent,
  Separator,
  TooltipTrigger,
} from "react-aria-components";
import { common } from "../text/common";
import { Button } from "./button";
import { item } from "./fields";

export { DialogTrigger, MenuTrigger, TooltipTrigger };

const overlay = "fixed inset-0 z-40 flex bg-(--scrim) animate-[fade_140ms]";

/** A dialog in the middle, or at the side for more than a few fields. Open it with a trigger or by isOpen. */
export function Dialog({
  title,
  side,
  wide,
  firm,
  children,
  isOpen,
  onOpenChange,
}: {
  title: string;
  side?: boolean;
  wide?: boolean;
  /** Closes only by what stands in it, for what is shown once. */
  firm?: boolean;
  children: ReactNode | ((close: () => void) => ReactNode);
  isOpen?: boolean;
  onOpenChange?: (open: boolean) => void;
}) {
  const place = side
    ? "ml-auto h-full w-full max-w-xl border-l"
    : `m-auto max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] rounded-xl border ${wide ? "max-w-3xl" : "max-w-lg"}`;
  return (
    <ModalOverlay
      isDismissable={!firm}
      isKeyboardDismissDisabled={firm}
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      className={overlay}
    >
      <Modal className={`flex flex-col border-line bg-surface shadow-pop outline-none animate-enter ${place}`}>
        <AriaDialog className="flex min-h-0 grow flex-col outline-none">
          {({ close }) => (
            <>
              <div className="flex items-center justify-between gap-4 px-5 pb-2 pt-4">
                <Heading slot="title" className="text-lg font-semibold">
                  {title}
                </Heading>
                {firm ? null : (
                  <AriaButton
                    aria-label={common.close}
                    onPress={close}
                    className="-mr-1.5 grid size-7 place-items-center rounded-md text-faint outline-none hover:bg-hover hover:text-ink focus-visible:ring-focus"
                  >
                    <X className="size-4" aria-hidden="true" />
                  </AriaButton>
                )}
              </div>
              {/* One column as wide as the dialog: long names and code wrap or scroll in their own place. */}
              <div className="min-h-0 grow overflow-y-auto px-5 pb-5 [&>.grid]:grid-cols-1">
                {typeof children === "function" ? children(close) : children}
              </div>
            </>
          )}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** The row of buttons at the end of a dialog. */
export function Actions({ children }: { children: ReactNode }) {
  return <div className="mt-5 flex flex-wrap justify-end gap-2">{children}</div>;
}

/** Asks before something that cannot be undone. confirm returns when it is done, or throws. */
export function Confirm({
  title,
  children,
  action,
  danger,
  confirm,
  isOpen,
  onOpenChange,
}: {
  title: string;
  children: ReactNode;
  action: string;
  danger?: boolean;
  confirm: () => Promise<unknown>;
  isOpen: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState("");
  return (
    <Dialog title={title} isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => (
        <>
          <div className="text-sm text-muted">{children}</div>
          {fault ? (
            <p role="alert" className="mt-3 text-sm text-bad">
              {fault}
            </p>
          ) : null}
          <Actions>
            <Button onPress={close}>{common.cancel}</Button>
            <Button
              look={danger ? "danger" : "primary"}
              busy={busy}
              onPress={async () => {
                setBusy(true);
                setFault("");
                try {
                  await confirm();
                  close();
                } catch (e) {
                  setFault((e as Error).message);
                } finally {
                  setBusy(false);
                }
              }}
            >
              {action}
            </Button>
          </Actions>
        </>
      )}
    </Dialog>
  );
}

export function Popover({
  children,
  className,
  ...rest
}: Omit<PopoverProps, "className" | "children"> & { children: ReactNode; className?: string }) {
  return (
    <AriaPopover {...rest} className="rounded-lg border border-line bg-surface shadow-pop outline-none animate-enter">
      <AriaDialog aria-label={rest["aria-label"]} className={`outline-none ${className ?? "p-3"}`}>
        {children}
      </AriaDialog>
    </AriaPopover>
  );
}

export function Menu({ children, label }: { children: ReactNode; label: string }) {
  return (
    <AriaPopover className="min-w-44 rounded-lg border border-line bg-surface p-1 shadow-pop outline-none animate-enter">
      <AriaMenu aria-label={label} className="max-h-96 overflow-auto outline-none">
        {children}
      </AriaMenu>
    </AriaPopover>
  );
}

export function MenuItem({ danger, ...rest }: Omit<MenuItemProps, "className"> & { danger?: boolean }) {
  return <AriaMenuItem {...rest} className={`${item} ${danger ? "text-bad!" : ""}`} />;
}

export function MenuSeparator() {
  return <Separator className="my-1 h-px bg-line" />;
}

// A press on an explained column heading still sorts.
const pass = (e: PressEvent) => e.continuePropagation();

/** What a press on an explained word does, where it is the label of a control. */
export const HintPress = createContext<(() => void) | undefined>(undefined);

/** A word of explanation on hover and on focus. The child must be focusable or plain text. */
export function Hint({ text, children }: { text: ReactNode; children: ReactNode }) {
  const press = useContext(HintPress);
  return (
    <TooltipTrigger delay={350} closeDelay={80}>
      {press ? (
        <AriaButton onPress={press} className="cursor-default rounded-sm py-1 outline-none focus-visible:ring-focus">
          {children}
        </AriaButton>
      ) : (
        <Pressable onPressStart={pass} onPressEnd={pass} onPressUp={pass} onPress={pass}>
          <span role="button" tabIndex={0} className="cursor-help rounded-sm outline-none focus-visible:ring-focus">
            {children}
          </span>
        </Pressable>
      )}
      <TooltipBody>{text}</TooltipBody>
    </TooltipTrigger>
  );
}

/** What a tooltip shows; put it beside a button inside TooltipTrigger. */
export function TooltipBody({ children }: { children: ReactNode }) {
  return (
    <AriaTooltip
      offset={6}
      className="z-50 max-w-72 rounded-md border border-line bg-surface px-2.5 py-1.5 text-xs text-ink shadow-pop animate-enter"
    >
      {children}
    </AriaTooltip>
  );
}
