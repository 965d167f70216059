import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { dirname, resolve } from 'node:path';
import { AppError, Log, messageOf } from '../errors/index.js';
import { describeJsonFault, parseJson, readText } from '../kernel/json/index.js';
import { toolConfig, type ToolConfig } from '../config/namespaces/index.js';
import type { OpenApiImport } from './openapi/openapi.types.js';
import { RestToolRegistry } from './rest-tool.registry.js';
import { checkFile } from './rest-tool.schema.js';
import type { RestToolDeclaration } from './rest-tool.types.js';

/** REST tools declared in code; type and injection token. */
export abstract class DeclaredRestTools {
  abstract readonly tools: readonly (RestToolDeclaration | OpenApiImport)[];
}

/** Registers one declaration; its errors name the location. */
type Declared = () => unknown;

/** Registers REST tools declared in code and in the files of `REST_TOOLS` at application start. */
@Injectable()
export class RestToolLoader implements OnModuleInit {
  private readonly logger = new Log('RestToolLoader');

  constructor(
    @Inject(toolConfig.KEY) private readonly config: ToolConfig,
    private readonly registry: RestToolRegistry,
    @Inject(DeclaredRestTools) private readonly inCode: DeclaredRestTools,
  ) {}

  /** @throws AppError `TOOL_INVALID` that lists all mistakes of all files */
  async onModuleInit(): Promise<void> {
    const mistakes: string[] = [];
    const all = [...this.ofCode(), ...this.config.restFiles.flatMap((path) => this.ofFile(path, mistakes))];
    for (const register of all) {
      await Promise.resolve()
        .then(register)
        .catch((error: unknown) => void mistakes.push(messageOf(error)));
    }
    const [first, ...rest] = mistakes;
    if (first === undefined) return;
    const what =
      rest.length === 0
        ? first
        : `${mistakes.length} REST tools are invalid:${mistakes.map((line) => `\n- ${line}`).join('')}`;
    throw new AppError('TOOL_INVALID', what);
  }

  private ofCode(): readonly Declared[] {
    return this.inCode.tools.map((entry, index) =>
      'document' in entry ? this.toImport(entry, `restTools[${index}]`) : this.toTool(entry, `restTools[${index}]`),
    );
  }

  private ofFile(path: string, mistakes: string[]): readonly Declared[] {
    try {
      const { tools, openapi } = checkFile(readJson(path), path);
      this.logger.log(`Registering REST tools from ${path}`);
      return [
        ...tools.map((entry, index) => this.toTool(entry, `${path}: tools[${index}]`)),
        ...openapi.map((entry, index) => this.toImport(besides(path, entry), `${path}: openapi[${index}]`)),
      ];
    } catch (error) {
      mistakes.push(messageOf(error));
      return [];
    }
  }

  private toTool(entry: unknown, place: string): Declared {
    const declaration = entry as RestToolDeclaration;
    const name = typeof declaration?.name === 'string' ? ` ${JSON.stringify(declaration.name)}` : '';
    return () => this.registry.register(declaration, `${place}${name}`);
  }

  private toImport(entry: unknown, place: string): Declared {
    return () => this.registry.importOpenApi(entry as OpenApiImport, place);
  }
}

/** Resolves a document's path relative to the file that names it. */
function besides(path: string, entry: unknown): unknown {
  const { document } = (entry ?? {}) as { document?: unknown };
  return typeof document === 'string' ? { ...(entry as object), document: resolve(dirname(path), document) } : entry;
}

function readJson(path: string): unknown {
  let text: string;
  try {
    text = readText(path);
  } catch (cause) {
    throw new AppError('TOOL_INVALID', `${path} of REST_TOOLS cannot be read: ${messageOf(cause)}.`, { cause });
  }
  const parsed = parseJson(text);
  if (!parsed.ok) {
    const why = describeJsonFault(parsed.fault, text);
    throw new AppError('TOOL_INVALID', `${path} of REST_TOOLS is not JSON (${why}).`);
  }
  return parsed.value;
}
