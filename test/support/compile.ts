/**
 * Programs of the tests as plain JavaScript: where fifty processes start at once, the loader for TypeScript
 * would cost more than all that is tested.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root: string = resolve(import.meta.dirname, "..", "..");

/** Compiles sources, named from the repository's root, and what they import; answers the path of each. */
export function compile(sources: readonly string[], folder: string): readonly string[] {
  mkdirSync(folder, { recursive: true });
  const project = join(folder, "tsconfig.json");
  const compilerOptions = {
    rootDir: root,
    outDir: join(folder, "dist"),
    declaration: false,
    sourceMap: false,
  };
  const files = sources.map((source) => join(root, source));
  const typeRoots = [join(root, "node_modules", "@types")];
  const settings = { extends: join(root, "tsconfig.json"), include: [], files };
  writeFileSync(project, JSON.stringify({ ...settings, compilerOptions: { ...compilerOptions, typeRoots } }));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  symlinkSync(join(root, "package.json"), join(folder, "package.json"));
  execFileSync(process.execPath, [join(root, "node_modules", "typescript", "bin", "tsc"), "-p", project]);
  return sources.map((source) => join(folder, "dist", source.replace(/\.ts$/, ".js")));
}
