import { MutationCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { I18nProvider, RouterProvider as LinkProvider } from "react-aria-components";
import { createRoot } from "react-dom/client";
import { Refusal } from "./api/client";
import { goToKept } from "./lib/next";
import { makeRouter } from "./router";
import { locale } from "./text/language";
import { complain } from "./ui/toast";

const client = new QueryClient({
  mutationCache: new MutationCache({
    // Forms show what is wrong beside their fields; all else is said here.
    onError: (error, _variables, _context, mutation) => {
      if (!mutation.meta?.quiet) complain(error);
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      // What the server has refused it will refuse again.
      retry: (n, error) => n < 2 && !(error instanceof Refusal && error.status >= 400 && error.status < 500),
    },
  },
});

goToKept();
const router = makeRouter(client);

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <I18nProvider locale={locale}>
      <QueryClientProvider client={client}>
        <LinkProvider navigate={(to) => router.navigate({ to })}>
          <RouterProvider router={router} />
        </LinkProvider>
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
);
