/** Environments of machines that we do not run on, for the pure parts of the configuration. */
import type { Environment } from "../../src/config/env.js";

export const linux = (
  variables: Record<string, string> = {},
  other: Partial<Environment> = {},
): Environment => ({
  variables,
  platform: "linux",
  homeDir: "/people/ada",
  tempDir: "/tmp",
  workingDir: "/here",
  hostName: "engine",
  userName: "ada",
  userId: 1000,
  processId: 20,
  parentProcessId: 10,
  wantsTraces: false,
  ...other,
});

export const darwin = (variables: Record<string, string> = {}): Environment =>
  linux(variables, { platform: "darwin", homeDir: "/Users/ada", tempDir: "/var/folders/zz/T" });

export const win32 = (variables: Record<string, string> = {}): Environment =>
  linux(variables, {
    platform: "win32",
    homeDir: "C:\\Users\\ada",
    tempDir: "C:\\Users\\ada\\AppData\\Local\\Temp",
    workingDir: "C:\\work",
    userId: undefined,
  });
