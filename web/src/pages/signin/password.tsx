import { useState } from "react";
import { Button } from "react-aria-components";
import { t } from "../../text/signin";
import { TextField } from "../../ui/textfield";

interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
  error?: string;
  autoFocus?: boolean;
}

/** A password that one has. */
export function PasswordField(p: Props) {
  return <Hidden {...p} autoComplete="current-password" />;
}

const least = 8;
const better = 15;

/** A password that one chooses. Only its length is judged: what else makes a password bad is for the server to say. */
export function NewPasswordField(p: Props) {
  const n = [...p.value].length;
  let hint = t.passwordHint(least, better);
  if (n > 0 && n < least) hint = t.passwordMissing(least - n);
  if (n >= least) hint = t.passwordLong(better);
  if (n >= better) hint = t.passwordGood;
  return <Hidden {...p} hint={hint} autoComplete="new-password" />;
}

function Hidden(p: Props & { hint?: string; autoComplete: string }) {
  const [shown, setShown] = useState(false);
  return (
    <TextField
      {...p}
      type={shown ? "text" : "password"}
      isRequired
      trailing={
        <Button
          aria-label={shown ? t.hidePassword : t.showPassword}
          onPress={() => setShown(!shown)}
          className="-mr-1 rounded px-1 py-0.5 text-xs text-muted outline-none hover:text-ink focus-visible:ring-focus"
        >
          {shown ? t.hide : t.show}
        </Button>
      }
    />
  );
}
