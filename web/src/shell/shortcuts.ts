import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { places, settingsPlace } from "./nav";

/** Whether somebody is writing, so that keys are letters. */
function writing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** ⌘K opens the palette, g and a letter goes to a page, / goes to the page's search. */
export function useShortcuts(openPalette: () => void) {
  const navigate = useNavigate();
  const leader = useRef(0);
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      if ((e.metaKey || e.ctrlKey) && e.key.toLowerCase() === "k") {
        e.preventDefault();
        openPalette();
        return;
      }
      if (e.metaKey || e.ctrlKey || e.altKey || writing(e.target) || document.querySelector("[role=dialog]")) return;
      if (e.key === "?") {
        openPalette();
      } else if (e.key === "/") {
        const field = document.querySelector<HTMLInputElement>("main input[type=search]");
        if (field) {
          e.preventDefault();
          field.focus();
        }
      } else if (e.key === "g") {
        leader.current = e.timeStamp;
      } else if (e.timeStamp - leader.current < 1200) {
        leader.current = 0;
        const place = [...places, settingsPlace].find((p) => p.key === e.key);
        if (place) {
          e.preventDefault();
          navigate({ to: place.to });
        }
      }
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [navigate, openPalette]);
}
