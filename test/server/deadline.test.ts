/** How long a call may take (daemon.md D14): read from the header, and cut for unary calls. */
import { ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { limitDeadline } from "../../src/server/deadline.js";

type Row = readonly [
  sent: string | undefined,
  isUnary: boolean,
  answer: number | undefined | "refused",
  header: string | null,
];

const connectRows: readonly Row[] = [
  [undefined, true, 60_000, "60000"],
  [undefined, false, undefined, null],
  ["0", true, 0, "0"],
  ["1500", true, 1500, "1500"],
  ["60000", true, 60_000, "60000"],
  ["60001", true, 60_000, "60000"],
  ["9999999999", true, 60_000, "60000"],
  ["60001", false, 60_001, "60001"],
  ["9999999999", false, 2_147_483_647, "2147483647"],
  ["10000000000", true, "refused", "10000000000"],
  ["-1", true, "refused", "-1"],
  ["1.5", true, "refused", "1.5"],
  ["1e3", false, "refused", "1e3"],
  ["", true, "refused", ""],
];

const grpcRows: readonly Row[] = [
  [undefined, true, 60_000, "60S"],
  [undefined, false, undefined, null],
  ["0m", true, 0, "0m"],
  ["250m", true, 250, "250m"],
  ["60S", true, 60_000, "60S"],
  ["1M", true, 60_000, "1M"],
  ["61S", true, 60_000, "60S"],
  ["99999999H", true, 60_000, "60S"],
  ["2H", false, 7_200_000, "2H"],
  ["99999999H", false, 2_147_483_647, "2147483S"],
  ["5", true, "refused", "5"],
  ["5s", true, "refused", "5s"],
  ["123456789m", true, "refused", "123456789m"],
  ["-5S", false, "refused", "-5S"],
];

const cases = [
  ...connectRows.map((row) => ["connect", "connect-timeout-ms", ...row] as const),
  ...connectRows.map((row) => ["connect-stream", "connect-timeout-ms", ...row] as const),
  ...grpcRows.map((row) => ["grpc", "grpc-timeout", ...row] as const),
  ...grpcRows.map((row) => ["grpc-web", "grpc-timeout", ...row] as const),
];

test.each(cases)("%s: %s %s, unary %s: %s", (protocol, name, sent, isUnary, answer, header) => {
  const headers = new Headers(sent === undefined ? {} : { [name]: sent });
  const limit = () => limitDeadline(headers, protocol, isUnary);
  if (answer === "refused") expect(limit).toThrow(ConnectError);
  else expect(limit()).toBe(answer);
  expect(headers.get(name)).toBe(header);
});
