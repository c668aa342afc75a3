// Short messages at the edge, with a way to take back what was just done.

import { CircleAlert, CircleCheck, X } from "lucide-react";
import {
  Button as AriaButton,
  UNSTABLE_Toast as AriaToast,
  Text,
  UNSTABLE_ToastContent as ToastContent,
  UNSTABLE_ToastQueue as ToastQueue,
  UNSTABLE_ToastRegion as ToastRegion,
} from "react-aria-components";
import { common } from "../text/common";
import { Button } from "./button";

interface Message {
  text: string;
  bad?: boolean;
  undo?: () => void;
}

const queue = new ToastQueue<Message>({ maxVisibleToasts: 3 });

/** How long something can be taken back. */
const undoTime = 10_000;

export function say(text: string, undo?: () => void) {
  queue.add({ text, undo }, { timeout: undo ? undoTime : 5000 });
}

export function complain(error: unknown) {
  queue.add({ text: error instanceof Error ? error.message : String(error), bad: true }, { timeout: 12_000 });
}

export function Toasts() {
  return (
    <ToastRegion
      queue={queue}
      className="fixed inset-x-4 bottom-4 z-50 flex flex-col-reverse gap-2 outline-none sm:left-auto sm:w-96"
    >
      {({ toast }) => (
        <AriaToast
          toast={toast}
          className="flex items-center gap-2.5 rounded-lg border border-line bg-surface py-2 pl-3 pr-2 text-sm shadow-pop outline-none animate-enter focus-visible:ring-focus"
        >
          {toast.content.bad ? (
            <CircleAlert className="size-4 shrink-0 text-bad" aria-hidden="true" />
          ) : (
            <CircleCheck className="size-4 shrink-0 text-good" aria-hidden="true" />
          )}
          <ToastContent className="min-w-0 grow">
            <Text slot="title" className="break-words">
              {toast.content.text}
            </Text>
          </ToastContent>
          {toast.content.undo ? (
            <Button
              size="sm"
              onPress={() => {
                toast.content.undo?.();
                queue.close(toast.key);
              }}
            >
              {common.undo}
            </Button>
          ) : null}
          <AriaButton
            slot="close"
            aria-label={common.close}
            className="grid size-6 shrink-0 place-items-center rounded text-faint outline-none hover:text-ink focus-visible:ring-focus"
          >
            <X className="size-3.5" aria-hidden="true" />
          </AriaButton>
        </AriaToast>
      )}
    </ToastRegion>
  );
}
