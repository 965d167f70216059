import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { dirname, resolve } from 'node:path';
import { AppError, messageOf, parseJson, readText } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import type { OpenApiImport } from './openapi/openapi.types.js';
import { RestToolRegistry } from './rest-tool.registry.js';
import { checkFile } from './rest-tool.schema.js';
import type { RestToolDeclaration } from './rest-tool.types.js';

/** REST tools declared in code; type and injection token. */
export abstract class DeclaredRestTools {
  abstract readonly tools: readonly (RestToolDeclaration | OpenApiImport)[];
}

/** Registers one declaration; its errors name the location. */
type Declared = () => void | Promise<void>;

/** Registers REST tools declared in code and in the files of `REST_TOOLS` at application start. */
@Injectable()
export class RestToolLoader implements OnModuleInit {
  private readonly logger = new Logger('RestToolLoader');

  constructor(
    private readonly config: AppConfig,
    private readonly registry: RestToolRegistry,
    @Inject(DeclaredRestTools) private readonly inCode: DeclaredRestTools,
  ) {}

  /** @throws AppError `TOOL_INVALID` that lists all mistakes of all files */
  async onModuleInit(): Promise<void> {
    const mistakes: string[] = [];
    const all = [...this.ofCode(), ...this.config.tools.restFiles.flatMap((path) => this.ofFile(path, mistakes))];
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
    return this.inCode.tools.map((given, index) =>
      'document' in given ? this.toImport(given, `restTools[${index}]`) : this.toTool(given, `restTools[${index}]`),
    );
  }

  private ofFile(path: string, mistakes: string[]): readonly Declared[] {
    try {
      const { tools, openapi } = checkFile(readJson(path), path);
      this.logger.log(`Registering REST tools from ${path}`);
      return [
        ...tools.map((given, index) => this.toTool(given, `${path}: tools[${index}]`)),
        ...openapi.map((given, index) => this.toImport(besides(path, given), `${path}: openapi[${index}]`)),
      ];
    } catch (error) {
      mistakes.push(messageOf(error));
      return [];
    }
  }

  private toTool(given: unknown, place: string): Declared {
    const declaration = given as RestToolDeclaration;
    const name = typeof declaration?.name === 'string' ? ` ${JSON.stringify(declaration.name)}` : '';
    return () => this.registry.register(declaration, `${place}${name}`);
  }

  private toImport(given: unknown, place: string): Declared {
    return () => this.registry.importOpenApi(given as OpenApiImport, place);
  }
}

/** Resolves a document's path relative to the file that names it. */
function besides(path: string, given: unknown): unknown {
  const { document } = (given ?? {}) as { document?: unknown };
  return typeof document === 'string' ? { ...(given as object), document: resolve(dirname(path), document) } : given;
}

function readJson(path: string): unknown {
  let text: string;
  try {
    text = readText(path);
  } catch (cause) {
    throw new AppError('TOOL_INVALID', `${path} of REST_TOOLS cannot be read: ${messageOf(cause)}.`, { cause });
  }
  const parsed = parseJson(text);
  if (!parsed.ok) throw new AppError('TOOL_INVALID', `${path} of REST_TOOLS is not JSON (${parsed.fault.kind}).`);
  return parsed.value;
}
