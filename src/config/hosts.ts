/** Host names and addresses as options and requests write them: which are loopback (daemon.md D18, D22). */
import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");
loopback.addSubnet("::ffff:127.0.0.0", 104, "ipv6");

/** Without the brackets that an IPv6 address wears before a port. */
export const bareHost = (host: string): string =>
  host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;

/** Whether `host` (a name or an address, with or without brackets, no port) never leaves this machine. */
export function isLoopbackHost(host: string): boolean {
  const bare = bareHost(host);
  const family = isIP(bare);
  if (family === 0) return bare.toLowerCase() === "localhost";
  return loopback.check(bare, family === 4 ? "ipv4" : "ipv6");
}

export type HostAndPort = { readonly host: string; readonly port: number };

/** `host:port` with brackets around IPv6; `undefined` when it is none. The host comes back without brackets. */
export function hostAndPortFrom(text: string): HostAndPort | undefined {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^\s:[\]/@?#]+):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  const written = match?.[1];
  if (written === undefined || port > 65_535) return undefined;
  const host = bareHost(written);
  if (written !== host && isIP(host) !== 6) return undefined;
  return { host, port };
}
