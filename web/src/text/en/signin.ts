import { plural } from "./plural";

/** The pages before sign-in. */
export const signin = {
  title: "Sign in to Fanfare",
  signIn: "Sign in",
  withPasskey: "Sign in with a passkey",
  forgot: "Forgot password?",
  problems: {
    not_invited:
      "You have no invitation, or your email isn't verified with this provider. Ask an admin for an invitation.",
    no_workspace: "You aren't a member of any workspace. Ask a workspace admin to invite you.",
    rate_limit_exceeded: "Too many attempts. Wait a moment, then try again.",
    other: "Single sign-on failed. Try again.",
  },
  retryAt: (message: string, at: string) => `${message} Try again at ${at}.`,
  product: (build: string) => `Fanfare ${build}`,

  passkeyMissing: "The browser didn't return a passkey. Try again.",
  passkeyClosed: "The passkey prompt was closed or timed out. Try again.",
  passkeyExists: "This device already has a passkey for this account.",

  yourPassword: "Your password",
  wrongPassword: "This isn't the password of your account. Reset it if you forgot it.",
  choosePassword: "Choose a password",
  newPassword: "New password",
  passwordHint: (least: number, better: number) =>
    `At least ${least} characters. ${better} or more are better, such as a few unrelated words.`,
  passwordMissing: (n: number) => plural(n, "# more character.", "# more characters."),
  passwordLong: (better: number) => `Long enough. ${better} or more characters are better.`,
  passwordGood: "Good length.",
  showPassword: "Show password",
  hidePassword: "Hide password",
  show: "Show",
  hide: "Hide",

  linkCut: "The link is incomplete: the part after # is missing. Open the link from the email again.",
  linkUsed: "This link was already used, was replaced or has expired. Request a new one.",
  linkInvalid: "This link doesn't work",
  toSignIn: "Go to sign-in",
  linkOpening: "Opening link",
  join: "Join",
  joinWorkspace: (name: string | null) => `Join ${name ?? "the workspace"}`,
  signedInAs: (email: string) => `You are signed in as ${email}.`,
  invitedAs: (email: string) => `Your invitation is for ${email}.`,
  yourName: "Your name",
  renewTitle: "Choose a new password",
  renewHint: (email: string) => `For ${email}. All other sessions are signed out.`,
  saveAndSignIn: "Save and sign in",

  resetTitle: "Reset your password",
  resetNoMail:
    "This server doesn't send email. Ask a workspace admin for a reset link: Settings › Members › Create reset link.",
  resetHint: "We'll email you a link to choose a new password.",
  sendLink: "Send link",
  checkEmail: "Check your email",
  checkEmailHint: (email: string) =>
    `If there is an account for ${email}, we sent a reset link. It works once and expires in an hour.`,
  backToSignIn: "Back to sign-in",

  secondTitle: "Two-factor authentication",
  secondApp: "Enter the 6-digit code from your authenticator app.",
  secondRecovery: "Enter one of your recovery codes. Each code works once.",
  code: "Code",
  recoveryCode: "Recovery code",
  continue: "Continue",
  useApp: "Use authenticator app",
  useRecovery: "Use a recovery code",

  alreadySetUp: "This server is already set up",
  alreadySetUpHint: "Sign in with an existing account.",
  setupTitle: "Set up Fanfare",
  setupHint: "Create the first workspace. You become its owner.",
  setupLink: "Open the setup link from the server log",
  setupLinkHint:
    'The server logs the link when it starts, in the line "no one can sign in yet". Restart the server to get a new link. To sign in as an existing owner, run {command} on the server.',
  setupToken: "Setup token",
  setupTokenHint: "The part of the setup link after #.",
  workspace: "Workspace",
  workspaceHint: "Usually the name of your company.",
  timeZoneHint: "Decides when a day starts and ends",
  setUp: "Set up",
};
