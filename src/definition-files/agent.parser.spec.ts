import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentDefinitionSchema } from '../agent/definition/index.js';
import { parseAgent } from './agent.parser.js';

const WHOLE = `<?xml version="1.0" encoding="UTF-8"?>
<agent name="researcher" protocol="xml" code-mode="true">
  <description>Reads &amp; reports &#x41;</description>
  <llm api-type="openai" model="gpt-5" temperature="0.2" max-tokens="900" top-p="0.9" frequency-penalty="-1"
       presence-penalty="1.5" seed="7" max-attempts="3">
    <stop>END</stop>
    <stop>STOP</stop>
    <fallback api-type="deepseek"/>
    <fallback api-type="ollama" model="qwen3"/>
    <capabilities vision="true" image-urls="false" function-calling="true" json-mode="true" forced-tool-choice="false"/>
  </llm>
  <prompt>
    You research.
      Indented stays.
    <![CDATA[<b>]]> ends.
  </prompt>
  <tools><tool name="calculator"/><tool name="string_*"/></tools>
  <mcp-server name="web"/>
  <mcp-server name="files" enabled="false"/>
  <session memory="true" policy="token_budget" max-messages="20" max-context-tokens="8000" include-tool-calls="false"
           keep-first="2"/>
  <sub-agent name="writer"/>
  <sub-agent name="checker"/>
  <handoff name="desk"/>
  <skill name="refund"/>
  <skill name="legal-*"/>
  <response-format name="report">{"type": "object", "properties": {"title": {"type": "string"}}}</response-format>
  <limits max-iterations="5" run-timeout-ms="1000" max-result-bytes="2048" max-depth="2" max-tools="30" max-tool-tokens="9000"/>
  <waiting expires-ms="never" on-denied="end" on-expired="continue"/>
  <budgets><run tokens="5000"/><session tokens="9000"/><tenant-day cost="2.5"/><day tokens="1" cost="10"/></budgets>
  <guardrails>{"tools": [{"deny": ["send_*"]}], "content": {"cards": {"output": "mask"}}, "taint": "deny"}</guardrails>
  <approvals><tool name="write_*"/><tool name="calculator"/></approvals>
</agent>`;

const LLM = '<llm api-type="openai" model="m"/>';

/** The message of the refusal; fails for an accepted definition. */
function refusal(xml: string, options: Parameters<typeof parseAgent>[1] = {}): string {
  try {
    parseAgent(xml, { file: 'a.xml', ...options });
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`taken: ${xml}`);
}

describe('parseAgent', () => {
  it('parses every field of a definition', () => {
    const agent = parseAgent(WHOLE);
    expect(agent).toEqual({
      name: 'researcher',
      protocol: 'xml',
      codeMode: true,
      description: 'Reads & reports A',
      model: {
        provider: 'openai',
        name: 'gpt-5',
        parameters: {
          temperature: 0.2,
          maxTokens: 900,
          topP: 0.9,
          frequencyPenalty: -1,
          presencePenalty: 1.5,
          seed: 7,
          stop: ['END', 'STOP'],
        },
        maxAttempts: 3,
        fallback: [{ provider: 'deepseek' }, { provider: 'ollama', name: 'qwen3' }],
        capabilities: {
          vision: true,
          imageUrls: false,
          functionCalling: true,
          jsonMode: true,
          forcedToolChoice: false,
        },
      },
      instructions: 'You research.\n  Indented stays.\n<b> ends.',
      tools: ['calculator', 'string_*'],
      memory: {
        enabled: true,
        policy: 'token_budget',
        maxMessages: 20,
        maxContextTokens: 8000,
        includeToolCalls: false,
        keepFirst: 2,
      },
      subAgents: ['writer', 'checker'],
      handoffs: ['desk'],
      skills: ['refund', 'legal-*'],
      responseFormat: { name: 'report', schema: { type: 'object', properties: { title: { type: 'string' } } } },
      limits: {
        maxIterations: 5,
        runTimeoutMs: 1000,
        maxResultBytes: 2048,
        maxDepth: 2,
        maxTools: 30,
        maxToolTokens: 9000,
      },
      waiting: { expiresMs: null, onDenied: 'end', onExpired: 'continue' },
      mcpServers: [{ name: 'web' }, { name: 'files', enabled: false }],
      budgets: {
        run: { tokens: 5000 },
        session: { tokens: 9000 },
        tenantDay: { cost: 2.5 },
        day: { tokens: 1, cost: 10 },
      },
      guardrails: { tools: [{ deny: ['send_*'] }], content: { cards: { output: 'mask' } }, taint: 'deny' },
      approvals: ['write_*', 'calculator'],
    });
    const fields = Object.keys(agentDefinitionSchema.shape).toSorted();
    expect(Object.keys(agent).toSorted()).toEqual(fields);
  });

  it.each([
    [
      'an unknown element',
      `<agent name="a">\n  ${LLM}\n  <promt>x</promt></agent>`,
      'a.xml:3:3: <agent> has no element <promt>; did you mean prompt?',
    ],
    [
      'an unknown attribute',
      '<agent name="a">\n <llm api-type="openai" temprature = "1"/></agent>',
      'a.xml:2:25: <llm> has no attribute temprature; did you mean temperature?',
    ],
    [
      'an API key',
      '<agent name="a"><llm api-type="openai" api-key="k"/></agent>',
      'a.xml:1:40: <llm> has no attribute api-key: the address and the key',
    ],
    [
      'an invalid number',
      '<agent name="a"><llm api-type="openai" temperature="hot"/></agent>',
      'a.xml:1:40: temperature="hot": expected a number such as 0.7',
    ],
    [
      'a number out of range',
      '<agent name="a"><llm api-type="openai" temperature="9"/></agent>',
      'a.xml:1:40: model.parameters.temperature: Too big',
    ],
    ['a missing name', `<agent>${LLM}</agent>`, 'a.xml:1:1: <agent> expects the attribute name'],
    ['a missing model', '<agent name="a"/>', 'a.xml:1:1: expected a model: <llm'],
    ['a missing provider', '<agent name="a">\n<llm model="m"/></agent>', 'a.xml:2:1: model.provider: '],
    ['an empty prompt', `<agent name="a">${LLM}<prompt> </prompt></agent>`, 'a.xml:1:51: <prompt> expects a text'],
    ['stray text', `<agent name="a">hello ${LLM}</agent>`, 'a.xml:1:1: <agent> expects no text; it has "hello"'],
    ['a second model', `<agent name="a">${LLM}${LLM}</agent>`, 'a.xml:1:51: <agent> has a second <llm>; expected one'],
    ['a different root element', '<agnt/>', 'a.xml:1:1: expected <agent>, not <agnt>'],
    ['a mismatched end tag', '<agent name="a">\n</agnt>', 'a.xml:2:7: not well-formed: '],
    [
      'a DOCTYPE',
      '\n<!DOCTYPE agent [<!ENTITY x "y">]><agent name="a"/>',
      'a.xml:2:1: a DOCTYPE is refused: leave it out',
    ],
    ['an undefined entity', '<agent name="&constructor;"/>', 'a.xml:1:26: not well-formed: undefined entity'],
    ['a duplicate attribute', '<agent name="a" name="b"/>', 'a.xml:1:17: the attribute name is there twice'],
    ['an empty file', '', 'a.xml:1:1: '],
    ['an invalid schema', `<agent name="a">${LLM}<response-format>{</response-format></agent>`, 'expected JSON'],
  ])('refuses %s, with its position and the expected content', (_what, xml, message) => {
    expect(refusal(xml)).toContain(message);
  });

  it('reports all mistakes at once', () => {
    const lines = refusal(
      '<agent nam="a">\n<tools><tool/><tol name="b"/></tools><limits max-depth="x"/></agent>',
    ).split('\n');
    expect(lines).toHaveLength(5);
  });

  it('inserts the declared variables, and refuses others', () => {
    const env = { STYLE: '<brief>', OTHER: 'x' };
    const xml = `<agent name="a" env="STYLE">${LLM}<prompt>Be \${STYLE} at $\${cost}</prompt></agent>`;
    expect(parseAgent(xml, { env }).instructions).toBe('Be <brief> at ${cost}');
    expect(refusal(xml.replace('{STYLE}', '{OTHER}'), { env })).toContain('${OTHER} is not declared: name it in env');
    expect(refusal(xml)).toContain('a.xml:1:17: env: the variable STYLE is not given');
    expect(refusal(xml, { env: Object.create({ STYLE: 'x' }) as Record<string, string> })).toContain('not given');
  });

  it('adds no tools for the MCP servers of an agent', () => {
    const agentWith = (inner: string) => parseAgent(`<agent name="a">${LLM}${inner}</agent>`);
    expect(agentWith('')).not.toHaveProperty('mcpServers');
    const one = agentWith('<mcp-server name="web" enabled="false"/>');
    expect(one).toMatchObject({ mcpServers: [{ name: 'web', enabled: false }] });
    expect(one).not.toHaveProperty('tools');
    expect(agentWith('<tools/>')).toMatchObject({ tools: [] });
    expect(refusal(`<agent name="a">${LLM}<mcp-server name="web"/><mcp-server name="web"/></agent>`)).toContain(
      'mcpServers: must name each server once',
    );
  });

  it('extends another agent, and inherits the model fields that fit its own model', () => {
    const base = parseAgent(WHOLE);
    const find = (name: string) => (name === 'researcher' ? base : undefined);
    const own = parseAgent(
      '<agent name="b" extends="researcher"><llm model="m" temperature="1"/><limits max-depth="0"/></agent>',
      { find },
    );
    expect(own).toMatchObject({
      name: 'b',
      instructions: base.instructions,
      tools: base.tools,
      model: { provider: 'openai', name: 'm', parameters: { temperature: 1, seed: 7 } },
      limits: { maxIterations: 5, maxDepth: 0 },
    });
    expect(own.model.capabilities).toBeUndefined();
    expect(refusal('<agent name="b" extends="gone"/>', { find })).toContain('extends="gone": there is no such agent');
  });
});

describe('an included file', () => {
  let outside: string;
  let folder: string;
  const withPrompt = (src: string) => `<agent name="a">${LLM}<prompt src="${src}"/></agent>`;

  beforeAll(() => {
    outside = mkdtempSync(join(tmpdir(), 'jackdaw-include-'));
    folder = join(outside, 'agents');
    mkdirSync(join(folder, 'prompts'), { recursive: true });
    writeFileSync(join(folder, 'prompts', 'a.md'), '# You\n  help with ${this}\n');
    writeFileSync(join(outside, 'secret.md'), 'secret');
    writeFileSync(join(folder, 'latin.md'), Buffer.from([0xe9]));
    symlinkSync(join(outside, 'secret.md'), join(folder, 'link.md'));
    symlinkSync(outside, join(folder, 'up'));
  });
  afterAll(() => rmSync(outside, { recursive: true }));

  it('is inserted without substitution of variables', () => {
    expect(parseAgent(withPrompt('prompts/a.md'), { folder }).instructions).toBe('# You\n  help with ${this}');
  });

  it.each([
    ['../secret.md', 'without ..'],
    ['prompts/../../secret.md', 'without ..'],
    ['/etc/hostname', 'inside the folder'],
    ['link.md', 'it leads out of the folder'],
    ['up/secret.md', 'it leads out of the folder'],
    ['prompts', 'expected a file'],
    ['gone.md', 'no such file'],
    ['latin.md', 'it is not UTF-8'],
    ['http://example.com/a', 'no such file'],
  ])('is refused as %s', (src, message) => {
    expect(refusal(withPrompt(src), { folder })).toContain(message);
  });

  it('is refused without a folder, and beside a text', () => {
    expect(refusal(withPrompt('prompts/a.md'))).toContain('there is no folder');
    const both = `<agent name="a">${LLM}<prompt src="prompts/a.md">x</prompt></agent>`;
    expect(refusal(both, { folder })).toContain('a src and a text');
  });
});
