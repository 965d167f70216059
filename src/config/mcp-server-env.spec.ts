import { describe, expect, it } from 'vitest';
import { loadConfig } from './config.loader.js';

describe('MCP_ALLOWED_ORIGINS', () => {
  it('accepts origins as browsers write them, and none with a path', () => {
    const origins = (MCP_ALLOWED_ORIGINS: string) =>
      loadConfig({ env: { MCP_ALLOWED_ORIGINS } }).config.mcpServer.allowedOrigins;
    expect(origins('https://app.example, http://10.0.0.1:8080')).toEqual([
      'https://app.example',
      'http://10.0.0.1:8080',
    ]);
    for (const wrong of ['app.example', 'https://app.example/x', '*', 'null']) {
      expect(() => origins(wrong)).toThrow('MCP_ALLOWED_ORIGINS');
    }
  });
});
