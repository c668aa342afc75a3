import { StrictMode } from "react";
import { I18nProvider } from "react-aria-components";
import { createRoot } from "react-dom/client";
import { Door } from "./pages/signin/door";
import { locale } from "./text/language";

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <I18nProvider locale={locale}>
      <Door />
    </I18nProvider>
  </StrictMode>,
);
