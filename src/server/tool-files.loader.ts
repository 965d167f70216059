import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Extension, type ExtensionHost } from '../agent/index.js';
import { AppError, messageOf } from '../errors/index.js';
import type { JackdawOptions } from '../jackdaw.module.js';
import { VERSION } from '../kernel/index.js';
import type { ToolRegistration } from '../tool/index.js';

/** Node strips the types of a `.ts` file; decorators need a build. */
const FILES = ['tools.js', 'tools.ts'].map((name) => join('config', name));

/** The tools of `config/tools.js` and `config/tools.ts`. */
class ToolFiles extends Extension {
  readonly name = 'config-tools';
  readonly version = VERSION;

  constructor(private readonly tools: readonly ToolRegistration[]) {
    super();
  }

  override register(agent: ExtensionHost): void {
    for (const tool of this.tools) agent.registerTool(tool);
  }
}

/**
 * Adds the tools of the working directory to the options, unless `files` is false: the default export of each file is a
 * list of registrations.
 * @throws AppError `TOOL_INVALID` with the file, if it cannot be imported or exports no list
 */
export async function withToolFiles<Options extends Pick<JackdawOptions, 'extensions' | 'files'>>(
  options: Options,
): Promise<Options> {
  const { files = true, extensions = [] } = options;
  const tools: ToolRegistration[] = [];
  if (files) for (const file of FILES.filter((path) => existsSync(path))) tools.push(...(await importTools(file)));
  return tools.length === 0 ? options : { ...options, extensions: [...extensions, new ToolFiles(tools)] };
}

async function importTools(file: string): Promise<readonly ToolRegistration[]> {
  let module: { readonly default?: unknown };
  try {
    module = (await import(pathToFileURL(resolve(file)).href)) as typeof module;
  } catch (cause) {
    throw new AppError('TOOL_INVALID', `${file} cannot be imported: ${messageOf(cause)}`, { cause });
  }
  const list = module.default;
  if (!Array.isArray(list) || !list.every((entry) => typeof entry === 'object' && entry !== null)) {
    const form = '[{ name, description, parameters, handler }, …]';
    throw new AppError('TOOL_INVALID', `${file} has no list of tools as its default export: export default ${form}.`);
  }
  return list.map((tool: ToolRegistration) => ({ ...tool, source: `${file}: ${JSON.stringify(tool.name)}` }));
}
