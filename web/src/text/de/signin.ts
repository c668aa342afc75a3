import type { signin as en } from "../en/signin";
import { plural } from "./plural";

export const signin: typeof en = {
  title: "Bei Fanfare anmelden",
  signIn: "Anmelden",
  withPasskey: "Mit Passkey anmelden",
  forgot: "Passwort vergessen?",
  problems: {
    not_invited:
      "Für Sie gibt es keine Einladung, oder Ihre E-Mail-Adresse ist bei diesem Anbieter nicht bestätigt. Bitten Sie einen Admin um eine Einladung.",
    no_workspace: "Sie sind in keinem Workspace Mitglied. Bitten Sie einen Admin um eine Einladung.",
    rate_limit_exceeded: "Zu viele Versuche. Warten Sie einen Moment und versuchen Sie es dann noch einmal.",
    other: "Die Anmeldung per Single Sign-on ist fehlgeschlagen. Versuchen Sie es noch einmal.",
  },
  retryAt: (message, at) => `${message} Ab ${at} können Sie es erneut versuchen.`,
  product: (build) => `Fanfare ${build}`,

  passkeyMissing: "Der Browser hat keinen Passkey geliefert. Versuchen Sie es noch einmal.",
  passkeyClosed: "Die Passkey-Abfrage wurde geschlossen oder ist abgelaufen. Versuchen Sie es noch einmal.",
  passkeyExists: "Auf diesem Gerät gibt es bereits einen Passkey für dieses Konto.",

  yourPassword: "Ihr Passwort",
  wrongPassword: "Das ist nicht das Passwort Ihres Kontos. Setzen Sie es zurück, falls Sie es vergessen haben.",
  choosePassword: "Passwort wählen",
  newPassword: "Neues Passwort",
  passwordHint: (least, better) =>
    `Mindestens ${least} Zeichen. Besser sind ${better} oder mehr, etwa mehrere Wörter ohne Zusammenhang.`,
  passwordMissing: (n) => plural(n, "Noch # Zeichen.", "Noch # Zeichen."),
  passwordLong: (better) => `Lang genug. Besser sind ${better} Zeichen oder mehr.`,
  passwordGood: "Gute Länge.",
  showPassword: "Passwort anzeigen",
  hidePassword: "Passwort verbergen",
  show: "Anzeigen",
  hide: "Verbergen",

  linkCut: "Der Link ist unvollständig: Der Teil nach # fehlt. Öffnen Sie den Link aus der E-Mail noch einmal.",
  linkUsed: "Dieser Link wurde bereits verwendet, ersetzt oder ist abgelaufen. Fordern Sie einen neuen an.",
  linkInvalid: "Dieser Link funktioniert nicht",
  toSignIn: "Zur Anmeldung",
  linkOpening: "Link wird geöffnet",
  join: "Beitreten",
  joinWorkspace: (name) => (name === null ? "Workspace beitreten" : `${name} beitreten`),
  signedInAs: (email) => `Sie sind als ${email} angemeldet.`,
  invitedAs: (email) => `Die Einladung gilt für ${email}.`,
  yourName: "Ihr Name",
  renewTitle: "Neues Passwort wählen",
  renewHint: (email) => `Für ${email}. Alle anderen Sitzungen werden abgemeldet.`,
  saveAndSignIn: "Speichern und anmelden",

  resetTitle: "Passwort zurücksetzen",
  resetNoMail:
    "Dieser Server verschickt keine E-Mails. Bitten Sie einen Admin um einen Link: Einstellungen › Mitglieder › Link zum Zurücksetzen erstellen.",
  resetHint: "Sie erhalten per E-Mail einen Link, über den Sie ein neues Passwort wählen.",
  sendLink: "Link senden",
  checkEmail: "Prüfen Sie Ihren Posteingang",
  checkEmailHint: (email) =>
    `Falls es ein Konto für ${email} gibt, haben wir einen Link gesendet. Er funktioniert einmal und läuft nach einer Stunde ab.`,
  backToSignIn: "Zurück zur Anmeldung",

  secondTitle: "Zwei-Faktor-Authentifizierung",
  secondApp: "Geben Sie den 6-stelligen Code aus Ihrer Authenticator-App ein.",
  secondRecovery: "Geben Sie einen Ihrer Wiederherstellungscodes ein. Jeder Code funktioniert einmal.",
  code: "Code",
  recoveryCode: "Wiederherstellungscode",
  continue: "Weiter",
  useApp: "Authenticator-App verwenden",
  useRecovery: "Wiederherstellungscode verwenden",

  alreadySetUp: "Dieser Server ist bereits eingerichtet",
  alreadySetUpHint: "Melden Sie sich mit einem vorhandenen Konto an.",
  setupTitle: "Fanfare einrichten",
  setupHint: "Erstellen Sie den ersten Workspace. Er gehört dann Ihnen.",
  setupLink: "Öffnen Sie den Einrichtungslink aus dem Server-Log",
  setupLinkHint:
    "Der Server schreibt den Link beim Start ins Log, in die Zeile „no one can sign in yet“. Nach einem Neustart gibt es einen neuen Link. Um sich als vorhandener Inhaber anzumelden, führen Sie auf dem Server {command} aus.",
  setupToken: "Einrichtungstoken",
  setupTokenHint: "Der Teil des Einrichtungslinks nach #.",
  workspace: "Workspace",
  workspaceHint: "Meist der Name Ihres Unternehmens.",
  timeZoneHint: "Bestimmt, wann ein Tag beginnt und endet",
  setUp: "Einrichten",
};
