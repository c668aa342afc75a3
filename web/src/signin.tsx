// Sign-in, first set-up and one-time links. They are a program of their own, so
// that whoever only signs in loads little.
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./app.css";
import { Door } from "./pages/signin/door";

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <Door />
  </StrictMode>,
);
