import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { serverConfig, type ServerConfig } from '../config/namespaces/index.js';
import { VERSION } from '../kernel/index.js';
import { KeyUseRegistry } from '../security/index.js';

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#25304a"/><path d="M6 19c0-7 5-11 11-11 3 0 5 1 6 3l4 1-4 2c0 7-4 10-9 10-2 0-3-1-4-2l-4 2z" fill="#8fa3c7"/><circle cx="20" cy="12" r="1.6" fill="#25304a"/></svg>`;
/** The page has a shell command with the requested host. */
const SHELL_SAFE = /^[\w.:[\]-]+$/;
const HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

/** Serves a page about this server at `/`, and its icon. It contains nothing private, so it needs no key. */
export function mountStartPage(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  const { hasDocs, hasConsole, prefix } = app.get<ServerConfig>(serverConfig.KEY);
  const use = app.get(KeyUseRegistry);
  fastify.get('/', ({ protocol, host }, reply) => {
    const html = page(
      exampleRequest(`${protocol}://${SHELL_SAFE.test(host) ? host : 'localhost'}${prefix}`, !use.isOpen),
      { hasDocs, hasConsole },
    );
    return reply.headers(HEADERS).type('text/html; charset=utf-8').send(html);
  });
  for (const path of ['/favicon.svg', '/favicon.ico']) {
    fastify.get(path, (_request, reply) =>
      reply.type('image/svg+xml').header('cache-control', 'public, max-age=86400').send(ICON),
    );
  }
}

/** A command that sends a question. @param base such as `http://localhost:3000` */
export function exampleRequest(base: string, needsKey: boolean): string {
  const key = needsKey ? ` -H "authorization: Bearer $API_KEY"` : '';
  return `curl -s ${base}/api/agent/chat -H 'content-type: application/json'${key} -d '{"query":"What is 6 * 7?"}'`;
}

/** Uses relative URLs, so that it also works below a proxy's path. */
function page(example: string, { hasDocs, hasConsole }: Pick<ServerConfig, 'hasDocs' | 'hasConsole'>): string {
  const links = [
    ...(hasConsole ? ['<a href="console/">Console</a>: chat, runs, decisions'] : []),
    ...(hasDocs
      ? ['<a href="docs">All routes</a>, with a form for each', '<a href="docs/json">OpenAPI document</a>']
      : ['The page of all routes is off; <code>DOCS_ENABLED=true</code> serves it at <code>/docs</code>']),
    '<a href="api/agent/health">State of this server</a>',
  ];
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Jackdaw</title>
    <link rel="icon" href="favicon.svg" type="image/svg+xml" />
    <style>
      :root { color-scheme: light dark; }
      body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 4rem auto; padding: 0 1rem; }
      h1 { display: flex; align-items: center; gap: 0.6rem; font-size: 1.6rem; }
      pre { padding: 0.8rem 1rem; border: 1px solid #8886; border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; }
      footer { color: #888; margin-top: 2rem; }
    </style>
  </head>
  <body>
    <h1><img src="favicon.svg" width="36" height="36" alt="" />Jackdaw</h1>
    <p>This server runs LLM agents behind a REST API. Its runs are journaled and resume after a crash.</p>
    <ul>
${links.map((link) => `      <li>${link}</li>`).join('\n')}
    </ul>
    <p>Ask a question:</p>
    <pre><code>${escapeHtml(example)}</code></pre>
    <footer>Version ${VERSION}</footer>
  </body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
