import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { parseAgent } from '../src/definition-files/index.js';
import { readAgentText } from '../src/definition-files/folder-draft.loader.js';
import { AGENT_ELEMENT, type ElementRule } from '../src/definition-files/definition/agent-element.schema.js';
import { parseXml, type XmlElement } from '../src/definition-files/xml/xml.parser.js';
import { renderAgentXsd } from './support/agent-xsd.js';

const xsd = readFileSync('docs/schemas/agent.xsd', 'utf8');

/** Paths like `a/b/@c` of all elements and attributes that the schema declares. */
function declared(element: XmlElement, path: string): string[] {
  const name = element.attributes.get('name')?.value ?? '';
  const isElement = element.name === 'xs:element';
  const own = isElement ? [`${path}/${name}`] : element.name === 'xs:attribute' ? [`${path}/@${name}`] : [];
  return [...own, ...element.children.flatMap((child) => declared(child, isElement ? `${path}/${name}` : path))];
}

function taken(name: string, { attributes, children }: ElementRule, path: string): string[] {
  const own = `${path}/${name}`;
  return [
    own,
    ...Object.keys(attributes).map((attribute) => `${own}/@${attribute}`),
    ...Object.entries(children).flatMap(([child, rule]) => taken(child, rule, own)),
  ];
}

describe('docs/schemas/agent.xsd', () => {
  it("equals the schema generated from the parser's rules", () => {
    expect(xsd).toBe(renderAgentXsd());
  });

  it('is well-formed and declares the elements and attributes of the parser', () => {
    const ofSchemas = ['/agent/@xmlns:xsi', '/agent/@xsi:noNamespaceSchemaLocation'];
    const names = taken('agent', AGENT_ELEMENT, '').filter((name) => !ofSchemas.includes(name));
    expect(declared(parseXml(xsd), '').toSorted()).toEqual(names.toSorted());
  });
});

describe('the examples', () => {
  const examplesIn = (file: string, kind: string) =>
    [...readFileSync(file, 'utf8').matchAll(/```(xml|json)\n([^]*?)```/g)].flatMap(([, is, text = '']) =>
      is === kind ? [text] : [],
    );
  const env = { AUDIENCE: 'engineers', OFFICE: 'room 7' };

  it('are accepted: docs/agent-files.md', () => {
    const find = (name: string) => ({ name, model: { provider: 'offline' } });
    const [poet = '', researcher = '', ...others] = examplesIn('docs/agent-files.md', 'xml');
    expect(parseAgent(poet, { find }).name).toBe('poet');
    expect(parseAgent(researcher, { env }).name).toBe('researcher');
    const [clerk = '', ...more] = examplesIn('docs/agent-files.md', 'json');
    const include = (path: string) => `the text of ${path}`;
    expect(readAgentText({ file: 'clerk.json', text: clerk, env, include })).toMatchObject({
      draft: { name: 'clerk', extends: 'researcher', input: { mcpServers: ['files'] } },
    });
    expect([others, more]).toEqual([[], []]);
  });
});
