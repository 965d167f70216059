// Writes docs/configuration.md and config/.env.example from the namespaces of src/config (`npm run docs:configuration`).
// With --check it writes nothing, and fails if one of them is stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

const PAGE = 'docs/configuration.md';
const EXAMPLE = 'config/.env.example';

const headOf = (secrets) => `# Configuration

<!-- Written by \`npm run docs:configuration\`: change the namespaces in src/config/namespaces instead. -->

Set these variables in the environment, or in a file \`.env\` in the working directory (UTF-8: assignments and comments).
The environment takes precedence. An invalid value or line stops the start; the error lists all mistakes. An empty value
counts as not set. [config/.env.example](../config/.env.example) contains every variable.

In a host application (\`JackdawModule.forRoot\`, \`createAgent\`) these names have the prefix \`JACKDAW_\`: \`JACKDAW_DATA_DIR\`,
\`JACKDAW_DATABASE_URL_FILE\`. Names without it belong to the host. Only \`LLM_*\`, the providers' own names (\`OPENAI_API_KEY\`) and
the proxies (\`HTTP_PROXY\`, \`HTTPS_PROXY\`, \`NO_PROXY\`) have no prefix. A host application reads \`.env\` and the files in \`config/\` only with
the option \`files: true\`. A server (\`npm start\`, \`serve\`) accepts both forms, and so do variables given in code
(\`config\`, \`env\`). Of both in one source, the one with the prefix applies.

An unknown name with the prefix stops the start. Ignored are \`JACKDAW_URL\` and \`JACKDAW_KEY\` of the [command line](cli.md), \`JACKDAW_MCP_CHILD\`, \`JACKDAW_DIR\` (of scripts), and what Kubernetes sets for a
service called \`jackdaw\`: \`JACKDAW_SERVICE_*\`, \`JACKDAW_PORT_*\`, and \`JACKDAW_PORT\` with a value \`tcp://…\`. For a service with another name
that starts with \`jackdaw-\`, set \`enableServiceLinks: false\`.

Each secret can be in a file, as container platforms mount it: \`DATABASE_URL_FILE=/run/secrets/database-url\` gives the
value of \`DATABASE_URL\`. This applies to ${secrets.map(code).join(', ')}, to the secrets of \`TOOL_SECRETS\`, and to the
variables to which \`config/mcp-servers.json\` refers. A file of several keys has one entry per line. The keys of providers
have the variables \`…_API_KEY_FILE\` below. Giving both the variable and its file is an error.`;

const cell = (text) => text.replaceAll('|', String.raw`\|`);
/** A text that is not Markdown. */
const plain = (text) => cell(text).replaceAll(/[*<]/g, String.raw`\$&`);
const code = (text) => (text === undefined || text === '' ? '' : `\`${text}\``);

/** docs/configuration.md: one table per namespace. */
export function renderPage(namespaces) {
  const tables = namespaces.map(({ title, variables }) => {
    const rows = variables.map(
      ({ name, default: fallback, allowed = '', description }) =>
        `| ${code(name)} | ${code(fallback)} | ${plain(allowed)} | ${cell(description)} |`,
    );
    return [
      `## ${title}`,
      '',
      '| variable | default | values | description |',
      '| --- | --- | --- | --- |',
      ...rows,
    ].join('\n');
  });
  const secrets = namespaces.flatMap(({ variables }) => variables.filter(({ file }) => file).map(({ name }) => name));
  return `${[headOf(secrets), ...tables].join('\n\n')}\n`;
}

/** config/.env.example: every variable, commented out. */
export function renderExample(namespaces) {
  const head =
    '# Copy to .env in the working directory; the process environment wins over it. A host application needs the option\n# files: true, and the prefix JACKDAW_ for all names except LLM_*, those of providers, and proxies.';
  const blocks = namespaces.flatMap(({ variables }) =>
    variables.map(
      ({ name, default: fallback = '', description }) => `# ${description.replaceAll('`', '')}\n#${name}=${fallback}`,
    ),
  );
  return `${[head, ...blocks].join('\n\n')}\n`;
}

/** The text without the padding of its tables, which a formatter adds. */
export function unpadded(text) {
  return text.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---');
}

if (import.meta.main) {
  const { configVariables } = await import('../dist/config/index.js');
  const namespaces = configVariables();
  const page = await format(renderPage(namespaces), { ...(await resolveConfig(PAGE)), parser: 'markdown' });
  const files = [
    [PAGE, page],
    [EXAMPLE, renderExample(namespaces)],
  ];
  if (process.argv.includes('--check')) {
    const stale = files.filter(([path, text]) => readFileSync(path, 'utf8') !== text);
    for (const [path] of stale) console.error(`${path} is stale: run \`npm run docs:configuration\`.`);
    process.exit(stale.length > 0 ? 1 : 0);
  }
  for (const [path, text] of files) writeFileSync(path, text);
}
