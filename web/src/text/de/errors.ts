import type { errors as en } from "../en/errors";

export const errors: typeof en = {
  unreachable: "Der Server hat nicht geantwortet. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.",
};
