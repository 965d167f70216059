import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A call with fixed arguments, and its outcome: `ok`, or the error code. */
export interface TriedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly outcome: string;
}

/** A published server from npm. */
export interface PublishedServer {
  readonly name: string;
  readonly npm: string;
  /** Its program, relative to the package. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Only the long form starts it. */
  readonly isLong: boolean;
  /** A tool that the server adds after the connection, last. */
  readonly last?: string;
  /** Calls that need neither a network nor a browser. */
  readonly calls: readonly TriedCall[];
}

const FOLDER = resolve('test/integrations');

const call = (tool: string, args: Readonly<Record<string, unknown>> = {}, outcome = 'ok'): TriedCall => ({
  tool,
  args,
  outcome,
});

/** The published servers. @param work an empty folder for their files */
export function publishedServers(work: string): readonly PublishedServer[] {
  const files = join(work, 'files');
  mkdirSync(files);
  writeFileSync(join(files, 'note.txt'), 'one\ntwo\n');
  const note = { path: join(files, 'note.txt') };
  const home = { HOME: work };
  return [
    {
      name: 'everything',
      npm: '@modelcontextprotocol/server-everything',
      program: 'dist/index.js',
      args: [],
      env: {},
      isLong: false,
      last: 'trigger-url-elicitation',
      calls: [
        call('echo', { message: 'hello' }),
        call('get-annotated-message', { messageType: 'success', includeImage: true }),
        call('get-env'),
        call('get-resource-links', { count: 2 }),
        call('get-resource-reference', { resourceType: 'Text', resourceId: 1 }),
        call('get-structured-content', { location: 'Chicago' }),
        call('get-sum', { a: 2, b: 40 }),
        call('get-tiny-image'),
        call('gzip-file-as-resource', { data: 'data:text/plain;base64,aGVsbG8=' }),
        call('trigger-long-running-operation', { duration: 0.1, steps: 1 }),
        call('list_resources'),
        call('read_resource', { uri: 'demo://resource/dynamic/text/1' }),
        call('list_prompts'),
        call('get_prompt', { name: 'simple-prompt' }),
      ],
    },
    {
      name: 'filesystem',
      npm: '@modelcontextprotocol/server-filesystem',
      program: 'dist/index.js',
      args: [files],
      env: {},
      isLong: false,
      calls: [
        call('list_allowed_directories'),
        call('read_text_file', note),
        call('read_file', note),
        call('read_multiple_files', { paths: [note.path] }),
        call('get_file_info', note),
        call('list_directory', { path: files }),
        call('list_directory_with_sizes', { path: files }),
        call('directory_tree', { path: files }),
        call('search_files', { path: files, pattern: '*.txt' }),
        call('create_directory', { path: join(files, 'new') }),
        call('write_file', { path: join(files, 'new', 'a.txt'), content: 'a' }),
        call('edit_file', { ...note, edits: [{ oldText: 'one', newText: 'ONE' }] }),
        call('move_file', { source: join(files, 'new', 'a.txt'), destination: join(files, 'b.txt') }),
        call('read_text_file', { path: '/etc/passwd' }, 'TOOL_FAILED'),
      ],
    },
    {
      name: 'memory',
      npm: '@modelcontextprotocol/server-memory',
      program: 'dist/index.js',
      args: [],
      env: { MEMORY_FILE_PATH: join(work, 'memory.jsonl') },
      isLong: false,
      calls: [
        call('create_entities', { entities: [{ name: 'Ann', entityType: 'person', observations: [] }] }),
        call('add_observations', { observations: [{ entityName: 'Ann', contents: ['likes tea'] }] }),
        call('create_relations', { relations: [{ from: 'Ann', to: 'Ann', relationType: 'knows' }] }),
        call('read_graph'),
        call('search_nodes', { query: 'tea' }),
        call('open_nodes', { names: ['Ann'] }),
        call('delete_observations', { deletions: [{ entityName: 'Ann', observations: ['likes tea'] }] }),
        call('delete_relations', { relations: [{ from: 'Ann', to: 'Ann', relationType: 'knows' }] }),
        call('delete_entities', { entityNames: ['Ann'] }),
      ],
    },
    {
      name: 'context7',
      npm: '@upstash/context7-mcp',
      program: 'dist/index.js',
      args: [],
      env: home,
      isLong: false,
      // Its tools ask a service.
      calls: [],
    },
    {
      name: 'chrome-devtools',
      npm: 'chrome-devtools-mcp',
      program: 'build/src/bin/chrome-devtools-mcp.js',
      args: ['--headless', '--no-usage-statistics'],
      env: home,
      isLong: true,
      // Its tools need a browser.
      calls: [],
    },
    {
      name: 'hubspot',
      npm: '@hubspot/mcp-server',
      program: 'dist/index.js',
      args: [],
      env: { ...home, PRIVATE_APP_ACCESS_TOKEN: 'pat-na1-none' },
      isLong: true,
      calls: [call('hubspot-generate-feedback-link')],
    },
    {
      name: 'desktop-commander',
      npm: '@wonderwhy-er/desktop-commander',
      program: 'dist/index.js',
      args: ['--no-onboarding'],
      env: home,
      isLong: true,
      calls: [
        call('get_config'),
        call('list_directory', { path: files }),
        call('get_file_info', note),
        call('read_file', note),
        call('write_file', { path: join(files, 'c.txt'), content: 'c' }),
        call('list_sessions'),
        call('list_searches'),
        call('get_usage_stats'),
      ],
    },
    {
      name: 'shopify',
      npm: '@shopify/dev-mcp',
      program: 'dist/index.js',
      args: [],
      env: { ...home, OPT_OUT_INSTRUMENTATION: 'true' },
      isLong: true,
      // Its tools ask a service.
      calls: [],
    },
  ];
}

/** A version of chrome-devtools-mcp that is installed beside the present one. */
export const EARLIER_DEVTOOLS = 'chrome-devtools-mcp-1.10.1';

/** The installed version of a package of this folder. */
export function versionOf(npm: string): string {
  const text = readFileSync(join(FOLDER, 'node_modules', npm, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** How a server is started, as in `mcp-servers.json`. */
export function entryOf({ npm, program, args, env }: PublishedServer) {
  return { command: process.execPath, args: [join(FOLDER, 'node_modules', npm, program), ...args], env };
}
