// An MCP server over standard input and output that answers with the digits that it received, byte for byte.
import { createInterface } from 'node:readline';

const LIMIT = '18446744073709551615';
const TOOL = `{"name":"look","description":"Looks.","inputSchema":{"type":"object","properties":{"id":{"type":"integer","maximum":${LIMIT}}}},"annotations":{"readOnlyHint":true}}`;

/** The answer to a line, as JSON text. */
export function answerTo(line) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return undefined;
  const replyText = (result) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
  switch (method) {
    case 'initialize':
      return replyText(
        `{"protocolVersion":${JSON.stringify(params.protocolVersion)},"capabilities":{"tools":{}},"serverInfo":{"name":"digits","version":"1"}}`,
      );
    case 'tools/list':
      return replyText(`{"tools":[${TOOL}]}`);
    case 'tools/call': {
      const args = /"arguments":(\{.*?\})/.exec(line)?.[1] ?? '{}';
      return replyText(
        `{"content":[{"type":"text","text":${JSON.stringify(args)}}],"structuredContent":{"got":${args},"list":[-9123456789012345678],"text":"9123456789012345677"}}`,
      );
    }
    default:
      return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"unknown"}}`;
  }
}

if (process.argv[1]?.endsWith('digits-server.mjs')) {
  for await (const line of createInterface({ input: process.stdin })) {
    const answer = answerTo(line);
    if (answer !== undefined) process.stdout.write(`${answer}\n`);
  }
}
