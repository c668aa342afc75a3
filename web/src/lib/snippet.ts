// The same call as code in four languages, ready to paste.

export interface Call {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Such as /v1/campaigns, without a query. */
  path: string;
  query?: Record<string, string | number | boolean | readonly string[] | undefined>;
  body?: unknown;
}

export const languages = ["curl", "TypeScript", "Python", "Go"] as const;
export type Language = (typeof languages)[number];

let authority: string | null = null;

/** Has calls trust a server's own authority, whose file is on this machine if the server is. */
export function trust(file: string | null, host = location.hostname) {
  authority = /^(localhost|127\..*|\[::1\])$/.test(host) ? file : null;
}

/** Says how programs that read no option are made to trust it. */
function trusting(comment: string, variable: string): string[] {
  return authority
    ? [`${comment} The certificate is the server's own: run with ${variable}=${quoteShell(authority)}`]
    : [];
}

function target(c: Call): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(c.query ?? {})) {
    if (v !== undefined) q.set(k, Array.isArray(v) ? v.join(",") : String(v));
  }
  // Commas and colons are readable as they are, and mean the same.
  const text = q.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
  return `${location.origin}${c.path}${text ? `?${text}` : ""}`;
}

const quoteShell = (s: string) => `'${s.replaceAll("'", `'\\''`)}'`;

/** A call as code. The key is a variable unless it is given. */
export function snippet(c: Call, language: Language, key = "$FANFARE_API_KEY"): string {
  const body = c.body === undefined ? "" : JSON.stringify(c.body, null, 2);
  return writers[language](c, target(c), body, key).join("\n");
}

type Writer = (c: Call, url: string, body: string, key: string) => string[];

const writers: Record<Language, Writer> = {
  curl: (c, url, body, key) => {
    const options = `${authority ? ` --cacert ${quoteShell(authority)}` : ""}${c.method === "GET" ? "" : ` -X ${c.method}`}`;
    const parts = [`curl${options} "${url}"`, `-H "Authorization: Bearer ${key}"`];
    if (body) parts.push(`-H "Content-Type: application/json"`, `-d ${quoteShell(body)}`);
    return [parts.join(" \\\n  ")];
  },
  TypeScript: (c, url, body) => [
    ...trusting("//", "NODE_EXTRA_CA_CERTS"),
    `const response = await fetch(${JSON.stringify(url)}, {`,
    ...(c.method === "GET" ? [] : [`  method: "${c.method}",`]),
    "  headers: {",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is a template in what is pasted
    "    Authorization: `Bearer ${process.env.FANFARE_API_KEY}`,",
    ...(body ? [`    "Content-Type": "application/json",`] : []),
    "  },",
    ...(body ? [`  body: JSON.stringify(${indent(body, 2)}),`] : []),
    "});",
    "if (!response.ok) throw new Error(await response.text());",
    "const { data } = await response.json();",
  ],
  Python: (c, url, body) => [
    ...trusting("#", "SSL_CERT_FILE"),
    "import json, os, urllib.request",
    "",
    "request = urllib.request.Request(",
    `    ${JSON.stringify(url)},`,
    ...(c.method === "GET" ? [] : [`    method="${c.method}",`]),
    "    headers={",
    `        "Authorization": f"Bearer {os.environ['FANFARE_API_KEY']}",`,
    ...(body ? [`        "Content-Type": "application/json",`] : []),
    "    },",
    ...(body ? [`    data=json.dumps(${indent(python(body), 4)}).encode(),`] : []),
    ")",
    "with urllib.request.urlopen(request) as response:",
    `    data = json.load(response)["data"]`,
  ],
  Go: (c, url, body) => [
    ...trusting("//", "SSL_CERT_FILE"),
    ...(body ? [`body := strings.NewReader(\`${body}\`)`] : []),
    `req, err := http.NewRequest("${c.method}", ${JSON.stringify(url)}, ${body ? "body" : "nil"})`,
    "if err != nil {",
    "\treturn err",
    "}",
    `req.Header.Set("Authorization", "Bearer "+os.Getenv("FANFARE_API_KEY"))`,
    ...(body ? [`req.Header.Set("Content-Type", "application/json")`] : []),
    "res, err := http.DefaultClient.Do(req)",
    "if err != nil {",
    "\treturn err",
    "}",
    "defer res.Body.Close()",
  ],
};

function indent(text: string, by: number): string {
  return text.replaceAll("\n", `\n${" ".repeat(by)}`);
}

/** JSON as Python writes it: outside strings, true, false and null have other names. */
function python(json: string): string {
  const names: Record<string, string> = { true: "True", false: "False", null: "None" };
  return json.replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (word) => names[word] ?? word);
}
