// Sign-in, first set-up and one-time links are a program of their own, so that
// a browser that only signs in loads little.
import "./app.css";
import { withTexts } from "./text/catalog";
import "./theme";

withTexts(() => import("./signin"));
