/**
 * gRPC server reflection, v1 and v1alpha (daemon.md D13): what services, messages and files there are, from
 * the descriptors of the services that the router serves. It names contracts, never data, and needs no token.
 */
import {
  createRegistry,
  type DescFile,
  type MessageInitShape,
  type Registry,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectRouter } from "@connectrpc/connect";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "../../gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "../../gen/grpc/reflection/v1alpha/reflection_pb.js";

type Answer = MessageInitShape<typeof ServerReflectionResponseSchema>;
type MessageResponse = NonNullable<Answer["messageResponse"]>;

export type Contracts = {
  readonly serviceNames: readonly string[];
  /** Files of the services, and of messages that only appear as error details; their imports are followed. */
  readonly files: readonly DescFile[];
};

const refused = (errorCode: Code, errorMessage: string): MessageResponse => ({
  case: "errorResponse",
  value: { errorCode, errorMessage },
});

const unknown = (kind: string): MessageResponse =>
  refused(Code.NotFound, `This daemon knows no such ${kind}.`);

/** `contracts` is asked at the first request, since services are registered after this one. */
export function registerReflection(router: ConnectRouter, contracts: () => Contracts): void {
  let answers: ReturnType<typeof createAnswers> | undefined;
  async function* serverReflectionInfo(requests: AsyncIterable<ServerReflectionRequest>) {
    answers ??= createAnswers(contracts());
    // A file is sent once a stream; its importers may ask for it again by name.
    const sent = new Set<DescFile>();
    for await (const request of requests) {
      yield {
        validHost: request.host,
        originalRequest: request,
        messageResponse: answers.to(request, sent),
      };
    }
  }
  router.service(ServerReflection, { serverReflectionInfo });
  // The two versions have the same messages under different names; both are plain data here.
  router.service(ServerReflectionAlpha, {
    serverReflectionInfo: serverReflectionInfo as never,
  });
}

function createAnswers({ serviceNames, files }: Contracts) {
  const byName = new Map<string, DescFile>();
  const add = (file: DescFile): void => {
    if (byName.has(file.proto.name)) return;
    byName.set(file.proto.name, file);
    for (const imported of file.dependencies) add(imported);
  };
  for (const file of files) add(file);
  const registry = createRegistry(...byName.values());

  const withImports = (file: DescFile, sent: Set<DescFile>): Uint8Array[] => {
    const found: DescFile[] = [];
    const walk = (current: DescFile): void => {
      if (sent.has(current)) return;
      sent.add(current);
      found.push(current);
      for (const imported of current.dependencies) walk(imported);
    };
    walk(file);
    // Asked for by name a second time: the file alone, since its imports are there already.
    if (found.length === 0) found.push(file);
    return found.map((one) => toBinary(FileDescriptorProtoSchema, one.proto));
  };

  const filesResponse = (file: DescFile | undefined, sent: Set<DescFile>, kind: string): MessageResponse =>
    file === undefined
      ? unknown(kind)
      : { case: "fileDescriptorResponse", value: { fileDescriptorProto: withImports(file, sent) } };

  return {
    to({ messageRequest }: ServerReflectionRequest, sent: Set<DescFile>): MessageResponse {
      switch (messageRequest.case) {
        case "listServices":
          return {
            case: "listServicesResponse",
            value: { service: serviceNames.map((name) => ({ name })) },
          };
        case "fileByFilename":
          return filesResponse(byName.get(messageRequest.value), sent, "file");
        case "fileContainingSymbol":
          return filesResponse(fileOfSymbol(registry, messageRequest.value), sent, "symbol");
        case "fileContainingExtension": {
          const { containingType, extensionNumber } = messageRequest.value;
          const message = registry.getMessage(containingType);
          const extension = message && registry.getExtensionFor(message, extensionNumber);
          return filesResponse(extension?.file, sent, "extension");
        }
        case "allExtensionNumbersOfType": {
          const baseTypeName = messageRequest.value;
          if (registry.getMessage(baseTypeName) === undefined) return unknown("message");
          const numbers = [...registry].flatMap((type) =>
            type.kind === "extension" && type.extendee.typeName === baseTypeName ? [type.number] : [],
          );
          return {
            case: "allExtensionNumbersResponse",
            value: { baseTypeName, extensionNumber: numbers.sort((a, b) => a - b) },
          };
        }
        default:
          return refused(
            Code.InvalidArgument,
            "Say what to look up: the request's message_request is not set.",
          );
      }
    },
  };
}

/** A type, or a method, field, oneof or enum value inside one, by its full name. */
function fileOfSymbol(registry: Registry, symbol: string): DescFile | undefined {
  const type = registry.get(symbol);
  if (type !== undefined) return type.file;
  const dot = symbol.lastIndexOf(".");
  const parent = registry.get(symbol.slice(0, Math.max(dot, 0)));
  const name = symbol.slice(dot + 1);
  const isNamed = (member: { readonly name: string }): boolean => member.name === name;
  switch (parent?.kind) {
    case "service":
      return parent.methods.some(isNamed) ? parent.file : undefined;
    case "message":
      return parent.fields.some(isNamed) || parent.oneofs.some(isNamed) ? parent.file : undefined;
    case "enum":
      return parent.values.some(isNamed) ? parent.file : undefined;
    default:
      return undefined;
  }
}
