import "./app.css";
import { withTexts } from "./text/catalog";
import "./theme";

withTexts(() => import("./main"));
