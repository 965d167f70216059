// An MCP server of the SDK whose results have binary content: an image, audio, resources, and base64 in structures.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';
import { binary, PNG } from './media.mjs';

const server = new McpServer({ name: 'media', version: '1.0.0' });
const base64 = (bytes) => bytes.toString('base64');
const content = (...blocks) => ({ content: blocks });
const tool = (name, more, answer) => server.registerTool(name, { description: `Gives ${name}.`, ...more }, answer);

tool('picture', {}, () =>
  content({ type: 'text', text: 'A dot:' }, { type: 'image', data: base64(PNG), mimeType: 'image/jpeg' }),
);
tool('sound', {}, () => content({ type: 'audio', data: base64(binary(2000, 'RIFF....WAVE')), mimeType: 'audio/wav' }));
tool('document', { inputSchema: { bytes: z.number() } }, ({ bytes }) =>
  content(
    { type: 'text', text: 'before' },
    {
      type: 'resource',
      resource: { uri: 'file:///report.pdf', mimeType: 'application/pdf', blob: base64(binary(bytes, '%PDF-1.7')) },
    },
    { type: 'text', text: base64(binary(3000)) },
  ),
);
tool('structure', { outputSchema: { name: z.string(), data: z.string().base64(), url: z.string() } }, () => {
  const structuredContent = {
    name: 'a file',
    data: base64(binary(49_179)),
    url: `data:image/png;base64,${base64(PNG)}`,
  };
  return { structuredContent, ...content({ type: 'text', text: JSON.stringify(structuredContent) }) };
});
tool('failure', {}, () => ({
  ...content({ type: 'text', text: base64(binary(3000)) }),
  isError: true,
}));
server.registerResource('scan', 'scan:1', { mimeType: 'application/x-scan' }, () => ({
  contents: [{ uri: 'scan:1', mimeType: 'application/x-scan', blob: base64(binary(300)) }],
}));
await server.connect(new StdioServerTransport());
