// Passkeys: what stands between the server's options and its answer is the
// browser's own.

import type { Ceremony } from "../../api/console";
import { t } from "../../text/signin";

/** Whether this browser can use passkeys as the server speaks of them. */
export const hasPasskeys =
  typeof PublicKeyCredential !== "undefined" && "parseRequestOptionsFromJSON" in PublicKeyCredential;

/** What a browser says about a passkey, for the server. */
export type Answer = object;

/** Signs with a passkey. Offered says that the browser only offers passkeys where one types the e-mail. */
export function signWith(
  ceremony: Ceremony,
  { signal, offered }: { signal?: AbortSignal; offered?: boolean } = {},
): Promise<Answer> {
  const options = ceremony.options as PublicKeyCredentialRequestOptionsJSON;
  return answered(
    navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
      signal,
      mediation: offered ? "conditional" : undefined,
    }),
  );
}

/** Makes a passkey on this device. */
export function makePasskey(ceremony: Ceremony): Promise<Answer> {
  const options = ceremony.options as PublicKeyCredentialCreationOptionsJSON;
  return answered(
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  );
}

async function answered(asked: Promise<Credential | null>): Promise<Answer> {
  let credential: Credential | null;
  try {
    credential = await asked;
  } catch (e) {
    throw told(e as DOMException);
  }
  if (!credential) throw new Error(t.passkeyMissing);
  return (credential as PublicKeyCredential).toJSON();
}

/** Browsers do not say why, so that pages cannot find out what people have. */
function told(e: DOMException): Error {
  switch (e.name) {
    case "NotAllowedError":
      return new Error(t.passkeyClosed);
    case "InvalidStateError":
      return new Error(t.passkeyExists);
    default:
      return e;
  }
}
