/** The test's page, bundled, and web sites that serve it: the same page from another port is another origin. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";
import { root } from "../../support/compile.js";

/** The page's script as one file. */
export async function bundlePage(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "memoryd-page-"));
  try {
    await build({
      configFile: false,
      root,
      logLevel: "error",
      build: {
        outDir: folder,
        minify: false,
        lib: {
          entry: join(root, "test", "e2e", "browser", "page.ts"),
          formats: ["es"],
          fileName: () => "page.js",
        },
      },
    });
    return readFileSync(join(folder, "page.js"), "utf8");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export type Site = { readonly origin: string; readonly close: () => void };

/** Serves a page with `script` on a port of its own. */
export async function openSite(script: string): Promise<Site> {
  const server: Server = createServer((request, response) => {
    const isScript = request.url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(
      isScript ? script : '<!doctype html><title>test</title><script type="module" src="/page.js"></script>',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
