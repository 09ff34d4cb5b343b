// What a command has drawn is shown as what its bytes are.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./support.mjs";

const { kindOf } = await load("drawn");

const bytes = (...parts) => new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part, "latin1"))));

test("pictures, animations, films and texts are told apart by their bytes", () => {
  const kinds = {
    "image/png": bytes("\x89PNG\r\n\x1a\n"),
    "image/gif": bytes("GIF89a"),
    "image/jpeg": bytes("\xff\xd8\xff\xe0"),
    "image/webp": bytes("RIFF\x10\0\0\0WEBPVP8 "),
    "image/avif": bytes("\0\0\0\x20ftypavif"),
    "video/mp4": bytes("\0\0\0\x20ftypisom"),
    "video/webm": bytes("\x1aE\xdf\xa3\x01"),
    "image/svg+xml": bytes('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>'),
    text: bytes("reward 3.2"),
    "application/octet-stream": bytes("RIFF\x10\0\0\0WAVEfmt "),
  };
  for (const [kind, content] of Object.entries(kinds)) assert.equal(kindOf(content), kind);
  // A page is a text: nothing in it is run.
  assert.equal(kindOf(bytes("<!doctype html><script>alert(1)</script>")), "text");
  assert.equal(kindOf(bytes("\xff\xfe\xfa")), "application/octet-stream");
});
