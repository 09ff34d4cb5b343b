// Elements without HTML: all text is set as text, so whatever stands in a folder stays text.

type Attributes = Record<string, string | number | boolean | ((event: any) => void) | undefined>;
type Child = Node | string | number | null | undefined;

// Characters that hide text or turn it around, so that a name could look like another, are shown as what they are: foreign.
export const visible = (text: string): string =>
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "\ufffd");

// An element with attributes, listeners (`onclick`) and children.
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : visible(String(value)));
  }
  for (const child of children) {
    if (child !== null && child !== undefined) element.append(child instanceof Node ? child : visible(String(child)));
  }
  return element;
}

export function select(label: string, options: [string, string][], value: string, changed: (value: string) => void) {
  const chooser = h("select", { onchange: () => changed(chooser.value) });
  for (const [key, text] of options) chooser.append(h("option", { value: key }, text));
  chooser.value = value;
  return h("label", { class: "choice" }, label, chooser);
}

// A table with headings; the first column names the rows. One of numbers is aligned to the right.
export function table(head: string[], rows: Child[][], kind: "words" | "numbers" = "words"): HTMLElement {
  const body = rows.map((row) => h("tr", {}, ...row.map((cell, i) => (i ? h("td", {}, cell) : h("th", { scope: "row" }, cell)))));
  return h(
    "div",
    { class: "scroll" },
    h("table", { class: `plain ${kind}` }, head.some(Boolean) ? h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))) : null, h("tbody", {}, ...body)),
  );
}

export function pageColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
