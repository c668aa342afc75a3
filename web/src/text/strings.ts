// Finds text that a person would read in the console's source, for the test that
// keeps it in the catalogs.
import { parseSync } from "vite";

export interface Found {
  start: number;
  line: number;
  text: string;
}

/** Attributes and properties whose value is read by the viewer, also when it is one word in lower case. */
const read = new Set([
  "alt",
  "aria-description",
  "aria-label",
  "aria-roledescription",
  "aria-valuetext",
  "caption",
  "children",
  "heading",
  "hint",
  "label",
  "placeholder",
  "sub",
  "title",
]);

/** Attributes and properties whose value only the program reads. */
const unread = new Set([
  "accept",
  "autoComplete",
  "background",
  "className",
  "d",
  "form",
  "href",
  "id",
  "key",
  "kind",
  "placement",
  "points",
  "rel",
  "role",
  "slot",
  "style",
  "textStyle",
  "to",
  "transform",
  "type",
  "value",
  "viewBox",
]);

/** Texts that only look like language: selectors, fonts, regions, commands, the product. */
const code = new Set([
  "Aa",
  "AT BE BG CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK",
  "Fanfare",
  "Inter Variable, system-ui, sans-serif",
  "Refusal",
  "a, button, input, [tabindex='0']",
  "a, button, input, label, [role=dialog]",
  "fanf_…",
  "fanfare user reset",
  "https://",
  "input, textarea",
  "The text is too long for a QR code.",
]);

/** Words with a capital that are names in the program: keys of the keyboard, elements, headers of requests. */
const names =
  /^(Alt|Arrow(Down|Left|Right|Up)|Authorization|Backspace|Content-Type|Control|Delete|End|Enter|Escape|Fanfare-Workspace|Home|Idempotency-Key|Meta|Page(Down|Up)|Retry-After|Shift|Space|Tab|[A-Z]+|[A-Z][a-z]+\/[A-Z][a-z]+)$/;

/** Style classes: words in lower case of which one has a hyphen, a colon or a bracket inside. */
const classes = (s: string) =>
  s.includes("[&") ||
  (!/[.!?…]$/.test(s) &&
    s.split(/\s+/).every((w) => /^[!*a-z[\]0-9-][^A-Z"'“”]*$/.test(w.replace(/\[.*$|\(.*$/, ""))) &&
    /\S[-:[/]\S/.test(s));

/** Whether a text looks like language: a word with a capital, or words with spaces. */
function language(s: string): boolean {
  if (!/[A-Za-z]{2}/.test(s) || names.test(s) || code.has(s)) return false;
  if (/^\s*[A-Z][a-z]+(\s|[.,:;!?…]|$)/.test(s)) return true;
  return /(^|[\s(])[A-Za-z'’]{2,}[,;:]? [A-Za-z'’]{2,}/.test(s) && !classes(s);
}

// biome-ignore lint/suspicious/noExplicitAny: the nodes of a syntax tree have all kinds of fields
type Node = any;

/** The texts in one file. */
export function strings(file: string, source: string): Found[] {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const found: Found[] = [];
  const add = (node: Node, text: string) =>
    found.push({
      start: node.start,
      line: source.slice(0, node.start).split("\n").length,
      text: text.replace(/\s+/g, " ").trim(),
    });
  const letters = (s: string) => /\p{L}{2}/u.test(s) && !code.has(s.trim());
  const check = (node: Node, text: string, field: string) => {
    if (read.has(field) ? letters(text) : !unread.has(field) && language(text)) add(node, text);
  };
  // field is the attribute or property that a node is the value of.
  const walk = (node: Node, field: string): void => {
    if (Array.isArray(node)) {
      for (const n of node) walk(n, field);
      return;
    }
    if (!node || typeof node.type !== "string") return;
    switch (node.type) {
      case "ImportDeclaration":
      case "ExportAllDeclaration":
      case "ImportExpression":
        return;
      case "JSXText":
        if (letters(node.value)) add(node, node.value);
        return;
      case "JSXAttribute": {
        const name = node.name.type === "JSXNamespacedName" ? "" : node.name.name;
        walk(node.value, name);
        return;
      }
      case "Property":
      case "PropertyDefinition":
        if (node.computed) walk(node.key, "");
        walk(node.value, node.key.name ?? node.key.value ?? "");
        return;
      case "JSXExpressionContainer":
        // A text between tags is read whatever it looks like.
        walk(node.expression, field || "children");
        return;
      case "Literal":
        if (typeof node.value === "string") check(node, node.value, field);
        return;
      case "TemplateLiteral":
        for (const q of node.quasis) {
          const part: string = q.value.cooked ?? "";
          check(q, /^ ?[a-z]{2,}( [a-z]{2,})* ?$/.test(part) && part.includes(" ") ? `A${part}` : part, field);
        }
        walk(node.expressions, unread.has(field) ? field : "");
        return;
      case "ConditionalExpression":
        walk(node.test, "");
        walk(node.consequent, field);
        walk(node.alternate, field);
        return;
      case "LogicalExpression":
        walk(node.left, node.operator === "&&" ? "" : field);
        walk(node.right, field);
        return;
      case "BinaryExpression":
        // Comparisons are with the program's own values.
        if (node.operator === "+") {
          walk(node.left, field);
          walk(node.right, field);
        } else {
          for (const n of [node.left, node.right]) if (n.type !== "Literal") walk(n, "");
        }
        return;
      case "SwitchCase":
        walk(node.consequent, "");
        return;
      default:
        if (node.type.startsWith("TS") && !/^TS(As|Satisfies|NonNull)/.test(node.type)) return;
        for (const [name, child] of Object.entries(node)) {
          if (name === "typeAnnotation" || name === "typeArguments" || name === "typeParameters") continue;
          if (child && typeof child === "object")
            walk(child, node.type === "ArrayExpression" || /^(Paren|TS)/.test(node.type) ? field : "");
        }
    }
  };
  walk(program.body, "");
  return found;
}
