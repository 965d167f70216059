import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { serve } from '../src/server/bootstrap.js';
import { AppError } from '../src/errors/index.js';
import { loadConfig } from '../src/config/index.js';
import { AgentFolder } from './support/agent-folder.js';
import { newFolder, startJackdaw, type StartOptions } from './support/jackdaw.js';

const LLM = '<llm api-type="offline"/>';
const agent = (name: string, inner = '') => `<agent name="${name}">${LLM}${inner}</agent>`;

describe('agents in files at the start', () => {
  let folder: AgentFolder;
  const dataDir = newFolder();
  beforeEach(() => void (folder = new AgentFolder()));
  afterEach(() => folder.dispose());
  afterAll(() => rmSync(dataDir, { recursive: true }));

  const start = (more: StartOptions = {}) => startJackdaw({ dataDir, env: { AGENTS_DIR: folder.path }, ...more });

  /** The error of a start that is refused. */
  async function refusal({ env = { AGENTS_DIR: folder.path }, options }: StartOptions = {}): Promise<AppError> {
    const defaults = { PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'silent', LLM_PROVIDER: 'offline' };
    const { config } = loadConfig({ env: { ...defaults, ...env } });
    try {
      const app = await serve({ config, ...options });
      await app.close();
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
    throw new Error('it has started');
  }

  async function names(more?: StartOptions): Promise<unknown[]> {
    const jackdaw = await start(more);
    const { agents } = (await jackdaw.get('/api/agents')).body as unknown as { agents: { name: string }[] };
    await jackdaw.stop();
    return agents.map(({ name }) => name);
  }

  it('make the start report all faults of all files', async () => {
    folder.write('a.xml', '<agent name="a">\n  <llm api-type="offline" temperature="hot"/><promt/></agent>');
    folder.write('b.json', '{\n  "name": "b"\n  "model": 1}');
    folder.write('c.xml', agent('c', '<tools><tool name="calculater"/><tool name="nothing"/></tools>'));
    folder.write('d.xml', agent('c', '\n<mcp-server name="web"/>'));
    folder.write('e.xml', agent('e', '\n<sub-agent name="unknown"/>\n<mcp-server name="web"/>'));
    folder.write('f.xml', agent('f').replace('offline', 'unknown'));
    const { code, message } = await refusal();
    const lines = message.replaceAll(`${folder.path}/`, '').split('\n');
    expect([code, lines]).toEqual([
      'AGENT_INVALID',
      [
        `The agents' files in ${folder.path} have 9 mistakes:`,
        '  a.xml:2:27: temperature="hot": expected a number such as 0.7',
        '  a.xml:2:46: <agent> has no element <promt>; did you mean prompt?',
        '  b.json:3:3: expected , or }',
        '  c.xml:1:55: There is no tool "calculater". Did you mean "calculator"?',
        '  c.xml:1:80: There is no tool "nothing".',
        '  d.xml:1:8: there are two agents named "c", here and in c.xml:1:8: rename one',
        '  e.xml:3:1: There is no MCP server "web".',
        expect.stringMatching(/^ {2}e\.xml:2:12: There is no agent "unknown"; there is: default, c, e, f\./),
        expect.stringMatching(/^ {2}f\.xml:1:17: There is no model provider "unknown"/),
      ],
    ]);
    folder.remove('a.xml');
    // A refused start releases the database for the next start.
    expect((await refusal()).message).toContain('7 mistakes');
  });

  it('are read from the configured folder, which must exist', async () => {
    const away = join(folder.outside, 'away');
    expect(await refusal({ env: { AGENTS_DIR: away } })).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `AGENTS_DIR: there is no folder "${away}": make it, or leave AGENTS_DIR out.`,
    });
    expect((await refusal({ options: { agentsDir: away } })).message).toContain('leave agentsDir out');
    writeFileSync(away, '');
    expect((await refusal({ env: { AGENTS_DIR: away } })).message).toContain('it is not a folder');
    expect(await names({ env: {} })).toEqual(['default']);
  });

  it('are read from config/agents in the working directory if that folder exists', async () => {
    mkdirSync(join(folder.outside, 'config'));
    symlinkSync(folder.path, join(folder.outside, 'config', 'agents'));
    folder.write('a.xml', agent('a'));
    const before = process.cwd();
    process.chdir(folder.outside);
    try {
      expect(await names({ env: {} })).toEqual(['default', 'a']);
    } finally {
      process.chdir(before);
    }
  });

  it('are read from the folder that the code sets, or not at all', async () => {
    folder.write('a.xml', agent('a'));
    expect(await names()).toEqual(['default', 'a']);
    expect(await names({ env: {}, options: { agentsDir: folder.path } })).toEqual(['default', 'a']);
    expect(await names({ options: { agentsDir: false } })).toEqual(['default']);
  });

  it('are added to the agents of the code, whose first agent is the default', async () => {
    folder.write('a.json', { name: 'a', extends: 'coded', subAgents: ['coded'] });
    const coded = { name: 'coded', model: { provider: 'offline' }, tools: [], subAgents: ['a'] };
    expect(await names({ options: { agents: [coded] } })).toEqual(['coded', 'a']);
    folder.write('b.xml', agent('coded'));
    expect((await refusal({ options: { agents: [coded] } })).message).toContain(
      `b.xml:1:8: there are two agents named "coded", here and in agents[0]: rename one`,
    );
  });

  it('can mention declared MCP servers, connected or not', async () => {
    folder.write('a.xml', agent('a', '<mcp-server name="web"/>'));
    const web = { name: 'web', enabled: false, type: 'http', http: { url: 'http://127.0.0.1:9/mcp' } } as const;
    expect(await names({ options: { mcpServers: [web] } })).toEqual(['default', 'a']);
  });

  describe('with references to something outside the folder', () => {
    const MARKER = 'a-secret-of-elsewhere';
    let server: Server;
    let requests = 0;

    beforeEach(async () => {
      requests = 0;
      server = createServer((_request, response) => {
        requests++;
        response.end(MARKER);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      writeFileSync(join(folder.outside, 'secret.md'), MARKER);
      writeFileSync(join(folder.outside, 'agent.xml'), agent('outer', `<prompt>${MARKER}</prompt>`));
    });
    afterEach(() => void server.close());

    const inner = (name: string) => join(folder.path, name);
    const outer = (name: string) => join(folder.outside, name);

    it('cannot read it through a link, a path, an entity or a URL', async () => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
      const doctype = (declared: string) =>
        `<!DOCTYPE agent ${declared}><agent name="x">${LLM}<prompt>&x;</prompt></agent>`;
      symlinkSync(outer('agent.xml'), inner('link.xml'));
      symlinkSync(outer('secret.md'), inner('link.md'));
      symlinkSync(folder.outside, inner('up'));
      symlinkSync(inner('loop.xml'), inner('loop.xml'));
      execFileSync('/usr/bin/mkfifo', [inner('pipe.xml')]);
      folder.write('folder.json/x', '');
      writeFileSync(inner('long.xml'), '');
      truncateSync(inner('long.xml'), 2 ** 40);
      writeFileSync(inner('latin.json'), Buffer.from([0x22, 0xe9, 0x22]));
      folder.write('file.xml', doctype(`[<!ENTITY x SYSTEM "file://${outer('secret.md')}">]`));
      folder.write('http.xml', doctype(`[<!ENTITY x SYSTEM "${url}">]`));
      folder.write('dtd.xml', doctype(`SYSTEM "${url}"`));
      folder.write('schema.xml', agent('schema').replace(' name', ` xsi:noNamespaceSchemaLocation="${url}" name`));
      folder.write('schema.json', { $schema: url, name: 'json', model: { provider: 'offline' } });
      for (const [at, src] of [
        '../secret.md',
        outer('secret.md'),
        'link.md',
        'up/secret.md',
        url,
        'gone.md',
      ].entries()) {
        folder.write(`include${at}.xml`, agent(`i${at}`, `<prompt src="${src}"/>`));
        folder.write(`include${at}.json`, { name: `j${at}`, model: { provider: 'offline' }, instructions: { src } });
      }
      const { message } = await refusal();
      const faults = Object.fromEntries(
        message
          .replaceAll(`${folder.path}/`, '')
          .split('\n  ')
          .slice(1)
          .map((line) => [line.split(':')[0], line.replace(/^.*: /, '')]),
      );
      const out = 'it leads out of the folder';
      const inside = 'expected a path inside the folder';
      const missing = 'there is no such file in the folder';
      const srcs = [`${inside}, without ..`, inside, out, out, missing, missing];
      expect(faults).toEqual({
        'link.xml': out,
        'loop.xml': 'it cannot be read (ELOOP)',
        'pipe.xml': 'expected a file',
        'folder.json': 'expected a file',
        'long.xml': 'it has 1099511627776 bytes; at most 1048576 are read',
        'latin.json': 'it is not UTF-8',
        'file.xml': 'leave it out',
        'http.xml': 'leave it out',
        'dtd.xml': 'leave it out',
        ...Object.fromEntries(
          srcs.flatMap((fault, at) => [
            [`include${at}.xml`, fault],
            [`include${at}.json`, fault],
          ]),
        ),
      });
      expect(message).not.toContain(MARKER);
      expect(requests).toBe(0);
    });

    it('can use links inside the folder and a folder that is a link', async () => {
      folder.write('prompts/a.md', 'Hello.');
      symlinkSync('prompts/a.md', inner('a.md'));
      folder.write('..1/a.xml', agent('a', '<prompt src="a.md"/>'));
      symlinkSync('..1', inner('..data'));
      symlinkSync('..data/a.xml', inner('a.xml'));
      symlinkSync(folder.path, outer('current'));
      expect(await names({ env: { AGENTS_DIR: outer('current') } })).toEqual(['default', 'a']);
    });

    it('cannot read variables that are secrets', async () => {
      const text = (name: string) => agent('a', `<prompt>\${${name}}</prompt>`).replace(' name', ` env="${name}" name`);
      folder.write('a.xml', text('DATABASE_URL'));
      const env = {
        AGENTS_DIR: folder.path,
        OPENAI_API_KEY: MARKER,
        LLM_PROVIDER: 'offline',
        CRM: MARKER,
        TOOL_SECRETS: 'CRM',
      };
      for (const name of ['OPENAI_API_KEY', 'CRM', 'NOT_THERE']) {
        folder.write('a.xml', text(name));
        expect((await refusal({ env })).message).toContain(`the variable ${name} is not given`);
      }
    });
  });
});
