import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parseAgent } from '../src/dpml/index.js';
import { AGENT_ELEMENT, type ElementRule } from '../src/dpml/definition/agent-element.schema.js';
import type { XmlElement } from '../src/dpml/xml/xml-element.types.js';
import { parseXml } from '../src/dpml/xml/xml.parser.js';
import { renderAgentXsd } from './support/agent-xsd.js';

const xsd = readFileSync('docs/agent.xsd', 'utf8');

/** `a/b/@c` for every element and attribute that the schema declares. */
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

describe('docs/agent.xsd', () => {
  it('is what the rules of the parser give', () => {
    expect(xsd).toBe(renderAgentXsd());
  });

  it('is well-formed, and names the elements and attributes that the parser takes', () => {
    const ofSchemas = ['/agent/@xmlns:xsi', '/agent/@xsi:noNamespaceSchemaLocation'];
    const names = taken('agent', AGENT_ELEMENT, '').filter((name) => !ofSchemas.includes(name));
    expect(declared(parseXml(xsd), '').toSorted()).toEqual(names.toSorted());
  });
});

describe('docs/agent-files.md', () => {
  it('has examples that are taken', () => {
    const page = readFileSync('docs/agent-files.md', 'utf8');
    const examples = [...page.matchAll(/```xml\n([^]*?)```/g)].map(([, xml = '']) => xml);
    const agents = examples.map((xml) => parseAgent(xml, { env: { AUDIENCE: 'engineers' } }));
    expect(agents.map(({ name }) => name)).toEqual(['researcher']);
  });
});
