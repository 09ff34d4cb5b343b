// Builds the page into dist/, or, with --check, says whether dist/ is what the sources build.
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { dirname, join } from "node:path";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");

// Whoever has a copy of the page has a copy of this, too.
const licence = await readFile(join(here, "node_modules/uplot/LICENSE"), "utf8");

async function bundled(entry, name) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: ["chrome110", "firefox115", "safari16"],
    charset: "utf8",
    legalComments: "inline",
    banner: { js: `/*! Includes uPlot, under this licence:\n\n${licence}*/`, css: `/*! Includes the style sheet of uPlot, MIT licence. */` },
    // Fonts are files of the server.
    external: ["/assets/*"],
  });
  return [name, result.outputFiles[0].text];
}

const files = [
  ["index.html", await readFile(join(here, "src", "index.html"), "utf8")],
  await bundled("main.ts", "app.js"),
  await bundled("app.css", "app.css"),
];

const isCheck = process.argv.includes("--check");
for (const [name, text] of files) {
  const path = join(dist, name);
  if (!isCheck) {
    await writeFile(path, text);
    console.log(`${name} ${text.length} bytes`);
  } else if ((await readFile(path, "utf8")) !== text) {
    console.error(`expected dist/${name} as the sources build it, found other text: run \`npm run build\` and commit it`);
    process.exitCode = 1;
  }
}
