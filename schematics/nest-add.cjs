// Adds src/assistant/: a tool, a route that asks the agent, and their module, which the application's root module imports.
// `nest add jackdaw` runs this file in the project, whose copy of @angular-devkit provides `tree`; it needs no package.
'use strict';

const TOOLS = `import { Injectable } from '@nestjs/common';
import { Tool } from 'jackdaw';

@Injectable()
export class WeatherTools {
  @Tool({ description: 'The weather of a city.', effect: 'read', paramsDescription: 'Name of the city' })
  weather(city: string): string {
    return \`It rains in \${city}.\`;
  }
}
`;

const CONTROLLER = `import { Body, Controller, Post } from '@nestjs/common';
import { AgentService, type Principal } from 'jackdaw';

/** In place of the user that a guard of yours sets: sessions and runs belong to this user. */
const USER: Principal = { id: 'developer', tenant: 'default', roles: ['user'] };

@Controller('assistant')
export class AssistantController {
  constructor(private readonly agents: AgentService) {}

  @Post()
  async ask(@Body() { question }: { question: string }) {
    const { result, run_id: runId } = await this.agents.chat(USER, { query: question });
    return { answer: result, runId };
  }
}
`;

const moduleOf = (extension) => `import { Module } from '@nestjs/common';
import { JackdawModule } from 'jackdaw';
import { AssistantController } from './assistant.controller${extension}';
import { WeatherTools } from './weather.tools${extension}';

@Module({
  imports: [JackdawModule.forRoot()],
  controllers: [AssistantController],
  providers: [WeatherTools],
})
export class AssistantModule {}
`;

const doneIn = (root) => `Added ${root}/assistant/. Start the application, then:
  curl localhost:3000/assistant -H 'content-type: application/json' -d '{"question":"call weather Oslo"}'
Without a model the offline model answers; OPENAI_API_KEY, or LLM_PROVIDER=ollama, selects a real one.
docs/host-application.md of the package continues from here: users, the REST API, MCP, PostgreSQL, tests.`;

/** Adds an import and an entry of \`imports\` to a module. @returns undefined for a module of another form */
function withModule(source, extension) {
  const at = /@Module\(\s*\{/.exec(source);
  if (!at) return undefined;
  const list = /(^|[{,\s])imports\s*:\s*\[/.exec(source.slice(at.index));
  const end = at.index + (list ? list.index + list[0].length : at[0].length);
  const isEmpty = list !== null && /^\s*\]/.test(source.slice(end));
  const entry = list ? `AssistantModule${isEmpty ? '' : ', '}` : '\n  imports: [AssistantModule],';
  const line = `import { AssistantModule } from './assistant/assistant.module${extension}';\n`;
  const imports = [...source.matchAll(/^import[^;]*;[^\n]*\n/gm)];
  const last = imports.at(-1);
  const place = last === undefined || last.index > at.index ? 0 : last.index + last[0].length;
  return source.slice(0, place) + line + source.slice(place, end) + entry + source.slice(end);
}

/** @param options `sourceRoot` and `module`, as in nest-add.schema.json */
exports.default = function nestAdd({ sourceRoot = 'src', module: moduleFile = 'app.module.ts' } = {}) {
  return (tree, context) => {
    const root = sourceRoot.replace(/\/$/, '');
    const path = `${root}/${moduleFile}`;
    if (!tree.exists(path))
      throw new Error(`${path} does not exist; name the root module below ${root}/ with --module.`);
    const source = tree.readText(path);
    if (source.includes('AssistantModule'))
      throw new Error(`${path} already imports an AssistantModule; nothing was changed.`);
    // Applications with ES modules name the extension of a file, those with CommonJS usually do not.
    const extension = /from\s+['"]\.[^'"]*\.js['"]/.test(source) ? '.js' : '';
    const changed = withModule(source, extension);
    if (changed === undefined) throw new Error(`${path} has no @Module({ … }); name the file with --module.`);
    tree.overwrite(path, changed);
    tree.create(`${root}/assistant/weather.tools.ts`, TOOLS);
    tree.create(`${root}/assistant/assistant.controller.ts`, CONTROLLER);
    tree.create(`${root}/assistant/assistant.module.ts`, moduleOf(extension));
    if (tree.exists('.gitignore') && !tree.readText('.gitignore').includes('.jackdaw'))
      tree.overwrite('.gitignore', `${tree.readText('.gitignore').trimEnd()}\n\n# Database of Jackdaw\n.jackdaw/\n`);
    context.logger.info(doneIn(root));
  };
};
