// Words that VOICE.md advises against, for the test of both catalogs.

/** In English: what to write instead stands in docs/VOICE.md. */
export const avoided = {
  en: [
    /\bfigures?\b/i,
    /\bbrings? in\b/i,
    /\bgives? way\b/i,
    /\bhears? of\b/i,
    /\bstands?\b/i,
    /\btells?\b/i,
    /\bholds?\b/i,
    /\blooked after\b/i,
    /\b(some|any)body\b/i,
    /\bwhoever\b/i,
    /\bnobody\b/i,
    /\bin all\b/i,
    /\ba (day|month)\b(?! starts)/i,
    /\be-mails?\b/i,
    /\bvs\b(?!\.)/i,
    /\b(is|are) called\b/i,
    /\bof (your|one's) own\b/i,
    /\bcannot be\b/i,
    /\bplease\b/i,
    /!(?=\s|$)/,
    /\b[a-z]+(_[a-z]+)+\b/,
  ],
  de: [/\b(du|dein\w*|dich|dir)\b/, /\bbitte\b/i, /!(?=\s|$)/, /\bEmails?\b/, /\b[a-z]+(_[a-z]+)+\b/],
};
