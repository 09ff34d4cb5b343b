// What the command of a run made of an elite, as the page shows it. Its bytes say what it is, whatever its name is.

import { h } from "./dom";
import { grouped } from "./numbers";

// Characters of a text that are shown; a page of more would not be read, and is slow.
const MAX_TEXT = 100_000;

export function drawn(bytes: ArrayBuffer, cell: number): HTMLElement {
  const kind = kindOf(new Uint8Array(bytes));
  if (kind === "text") return textOf(new TextDecoder().decode(bytes));
  const url = URL.createObjectURL(new Blob([bytes], { type: kind }));
  const label = `The elite of cell ${cell}, drawn by the command of the run`;
  if (kind.startsWith("image/")) {
    const image = h("img", { alt: label });
    image.onload = () => URL.revokeObjectURL(url);
    image.src = url;
    return image;
  }
  if (kind.startsWith("video/")) return h("video", { src: url, controls: true, autoplay: true, loop: true, "aria-label": label });
  const save = h("a", { href: url, download: `elite-${cell}` }, "Save them");
  return h("p", { class: "muted" }, `The command made ${grouped(bytes.byteLength)} bytes that are no picture, animation or text. `, save);
}

function textOf(text: string): HTMLElement {
  const rest = text.length - MAX_TEXT;
  return h("pre", { tabindex: 0 }, text.slice(0, MAX_TEXT), rest > 0 ? `\n… ${grouped(rest)} more characters` : "");
}

// What these bytes are. SVG is shown as an image, in which no script runs.
export function kindOf(bytes: Uint8Array): string {
  const has = (text: string, at = 0) => [...text].every((c, i) => bytes[at + i] === c.charCodeAt(0));
  if (has("\u0089PNG")) return "image/png";
  if (has("GIF8")) return "image/gif";
  if (has("\u00ff\u00d8\u00ff")) return "image/jpeg";
  if (has("RIFF") && has("WEBP", 8)) return "image/webp";
  if (has("ftypavif", 4)) return "image/avif";
  if (has("ftyp", 4)) return "video/mp4";
  if (has("\u001aE\u00df\u00a3")) return "video/webm";
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const start = text.slice(0, 1000).trimStart();
    if (start.startsWith("<svg") || (start.startsWith("<?xml") && start.includes("<svg"))) return "image/svg+xml";
    return text.includes("\0") ? "application/octet-stream" : "text";
  } catch {
    return "application/octet-stream";
  }
}
